import type { ToolCallRequest } from '#/call/tool-call.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import type { ContentCipher } from '#/seal/content/content-cipher.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { locate, type WireDocument } from '#/wire/document/document.ts';
import { capabilitiesFor, whyNotAsked } from '#/wire/mcp/input.ts';
import { digestOf, sealState } from './input-state.ts';
import { formsOf, type Sent } from './inspect-answers.ts';

/** A result that asks for input. */
export interface Asked {
  /** The questions, without what the server wants back. */
  readonly document: WireDocument;
  /** What the server wants back; undefined: nothing. */
  readonly state: string | undefined;
  /** The methods that are asked for, in alphabetical order. */
  readonly methods: readonly string[];
}

/** Questions in one result. */
const MOST_ASKED = 32;
/** Longest question with a form that is kept for the next round. */
const MOST_FORMS = 64 * 1024;

/** What a modern server may ask in this call: what its resource allows and the client has said that it can do. */
export function capabilitiesIn({ era, capabilities }: ToolCallRequest, server: McpServerConfig): JsonObject {
  return era.era === 'modern' ? capabilitiesFor(capabilities, server.clientCapabilities) : {};
}

/** Reads a result that asks for input; a text: why its client cannot be asked. */
export function readAsked({ body }: WireDocument, request: ToolCallRequest, server: McpServerConfig): Asked | string {
  if (request.era.era !== 'modern') return 'this client speaks a revision of the protocol that cannot give it';
  const { inputRequests: asked = {}, requestState: state, ...rest } = body;
  const can = capabilitiesIn(request, server);
  if (!isObject(asked) || (state !== undefined && typeof state !== 'string')) return 'the server asks in no known way';
  const requests = Object.values(asked);
  if (requests.length > MOST_ASKED || (requests.length === 0 && state === undefined))
    return 'the server asks for nothing, or for too much';
  const methods = new Set<string>();
  for (const one of requests) {
    const method = isObject(one) ? one['method'] : undefined;
    const params: Json | undefined = isObject(one) ? one['params'] : undefined;
    if (typeof method !== 'string' || whyNotAsked(method, params, can) !== undefined)
      return 'the client does not have the capability, or clientCapabilities of the MCPServer does not allow it';
    methods.add(method);
  }
  const value = { ...rest, inputRequests: asked };
  const document = locate('mcp', JSON.stringify(value), value, { lenient: true });
  return { document, state, methods: [...methods].toSorted() };
}

/** The same with what the next round needs, which only the gateway can read. Throws `result_too_large`. */
export function withState(
  text: string,
  { document, state }: Asked,
  said: { readonly request: ToolCallRequest; readonly server: McpServerConfig; readonly written: readonly string[] },
  sent: Sent,
  cipher: ContentCipher,
): string {
  const forms = formsOf(document.body['inputRequests']);
  const kept = {
    state,
    answers: said.written,
    sent: digestOf(sent.arguments, sent.answers),
    forms: JSON.stringify(forms).length > MOST_FORMS ? {} : forms,
  };
  const sealed = sealState(cipher, said.request, said.server, kept);
  return `${text.slice(0, -1)},"requestState":${JSON.stringify(sealed)}}`;
}
