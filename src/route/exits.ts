import { chatExit } from '#/wire/chat/codec.ts';
import type { ExitCodec } from '#/wire/hub/codec.ts';
import { converseExit } from '#/wire/converse/codec.ts';
import type { Family, HubFamily } from '#/wire/document/document.ts';
import { geminiExit } from '#/wire/gemini/codec.ts';
import { messagesExit } from '#/wire/messages/codec.ts';
import { responsesExit } from '#/wire/responses/codec.ts';

/** The families that a request can be translated to. */
export const EXITS: Readonly<Record<HubFamily, ExitCodec>> = {
  chat: chatExit,
  messages: messagesExit,
  responses: responsesExit,
  gemini: geminiExit,
  converse: converseExit,
};

export function isHubFamily(family: Family): family is HubFamily {
  return family in EXITS;
}
