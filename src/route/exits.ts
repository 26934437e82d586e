import { chatUpstream } from '#/wire/chat/codec.ts';
import type { UpstreamCodec } from '#/wire/hub/codec.ts';
import { converseUpstream } from '#/wire/converse/codec.ts';
import type { Family, HubFamily } from '#/wire/document/document.ts';
import { geminiUpstream } from '#/wire/gemini/codec.ts';
import { messagesUpstream } from '#/wire/messages/codec.ts';
import { responsesUpstream } from '#/wire/responses/codec.ts';

/** The families that a request can be translated to. */
export const UPSTREAM_CODECS: Readonly<Record<HubFamily, UpstreamCodec>> = {
  chat: chatUpstream,
  messages: messagesUpstream,
  responses: responsesUpstream,
  gemini: geminiUpstream,
  converse: converseUpstream,
};

export function isHubFamily(family: Family): family is HubFamily {
  return family in UPSTREAM_CODECS;
}
