import { hash } from 'node:crypto';
import type { ToolCallRequest } from '#/call/tool-call.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { ContentCipher, ContentPlace } from '#/seal/content/content-cipher.ts';
import { canonicalJson } from '#/wire/document/canonical-json.ts';
import { personOf } from './session-ids.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';

/** What the next round of a call needs of those before. Its client keeps it, sealed: the gateway keeps nothing. */
export interface InputState {
  /** What the server wants back; undefined: nothing. */
  readonly state: string | undefined;
  /** What answered the questions of earlier rounds, as the client wrote it: JSON source of an object each. */
  readonly answers: readonly string[];
  /** Digest of the arguments and these answers as they were sent. */
  readonly sent: string;
  /** Schema of each form that is asked for now. */
  readonly forms: JsonObject;
}

/** Rounds of one call. */
const MOST_ROUNDS = 16;
/** Longest state, before it is sealed. */
const MOST_LENGTH = 512 * 1024;
const LASTS_MS = 24 * 3_600_000;

type Owner = Pick<ToolCallRequest, 'key' | 'person' | 'subject' | 'tool'>;

/** Seals a state for one caller, one tool and one day. Throws `result_too_large` for one that is too long. */
export function sealState(cipher: ContentCipher, owner: Owner, server: McpServerConfig, state: InputState): string {
  const text = JSON.stringify({ ...state, at: Date.now() });
  if (text.length > MOST_LENGTH || state.answers.length > MOST_ROUNDS) {
    const message =
      'The tool asks for more input than one call can take: answers, or what the server keeps, are too large.';
    throw new GatewayError('result_too_large', message);
  }
  return cipher.encrypt(placeOf(owner, server), Buffer.from(text)).toString('base64url');
}

/** Throws `invalid_request` for a text that was not sealed for this caller and this tool. */
export function openState(cipher: ContentCipher, owner: Owner, server: McpServerConfig, sealed: string): InputState {
  if (sealed.length > MOST_LENGTH * 2) throw notOurs();
  const opened = cipher.decrypt(placeOf(owner, server), Buffer.from(sealed, 'base64url'));
  const value = opened && (JSON.parse(opened.toString()) as Json);
  if (!isObject(value) || Date.now() - Number(value['at']) > LASTS_MS) throw notOurs();
  const { state, answers, sent, forms } = value;
  return {
    state: typeof state === 'string' ? state : undefined,
    answers: answers as unknown as readonly string[],
    sent: typeof sent === 'string' ? sent : '',
    forms: isObject(forms) ? forms : {},
  };
}

/** What arguments and answers are known by, whatever the order of their members. */
export function digestOf(args: string, answers: readonly string[]): string {
  const all = [args, ...answers].map((source) => {
    try {
      return canonicalJson(JSON.parse(source) as Json);
    } catch {
      return source;
    }
  });
  return hash('sha256', JSON.stringify(all), 'base64url');
}

export function notOurs(): GatewayError {
  const message = 'params.requestState is not of this call, or too old: call the tool again without it.';
  return new GatewayError('invalid_request', message, { param: 'params.requestState' });
}

function placeOf({ key, tool, ...who }: Owner, server: McpServerConfig): ContentPlace {
  const name = JSON.stringify(['state', key.id, personOf(who), server.id, server.url, tool]);
  return { organization: key.workload.organization.id, purpose: 'session', name };
}
