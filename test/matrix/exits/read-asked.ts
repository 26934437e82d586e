import type { Asked, Body } from '../vocabulary.ts';
import { readChat } from './chat.ts';
import { readConverse } from './converse.ts';
import { readGemini } from './gemini.ts';
import { readMessages } from './messages.ts';
import { readResponses } from './responses.ts';

/** Families that providers are asked in. */
export type ExitFamily = 'chat' | 'messages' | 'responses' | 'gemini' | 'converse';

/** Reads what a provider of each family got, independently of the gateway's own codecs. */
export const READ_ASKED: Readonly<Record<ExitFamily, (body: Body) => Asked>> = {
  chat: readChat,
  messages: readMessages,
  responses: readResponses,
  gemini: readGemini,
  converse: readConverse,
};
