import type { McpServerOAuth } from '#/config/snapshot.ts';
import { McpTokenFault } from '#/ports/mcp-servers.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { readFailure } from '../http/failure.ts';
import type { Transport } from '../http/transport.ts';

/** A request for a token. */
export interface TokenAsk {
  readonly auth: McpServerOAuth;
  /** Address of the server that the token is for. */
  readonly resource: string;
}

/** A token as the endpoint gave it. */
export interface GivenToken {
  readonly value: string;
  /** How long it holds; undefined: the endpoint does not say. */
  readonly lifetimeMs: number | undefined;
}

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 64 * 1024;
/** Longest access token: what servers take in one header. */
const MOST_LETTERS = 8192;
/** What a header can hold, and nothing that ends it. // RFC 6749 A.12 */
const TOKEN = /^[\x21-\x7e]+$/;
/** Answers that blame the request, and not the endpoint. */
const IS_REFUSAL: ReadonlySet<number> = new Set([400, 401, 403, 404]);
/** Many calls may wait for a token: none of them gives it up for the others. */
const NEVER = new AbortController().signal;

/** Fetches an access token. Rejects with `McpTokenFault` or `UpstreamFault`. // RFC 6749 4.4 */
export async function fetchToken({ auth, resource }: TokenAsk, transport: Transport): Promise<GivenToken> {
  const { origin, pathname } = new URL(auth.tokenUrl);
  const form = new URLSearchParams({ grant_type: 'client_credentials', resource });
  if (auth.scopes.length > 0) form.set('scope', auth.scopes.join(' '));
  const incoming = await transport.send({
    method: 'POST',
    origin,
    path: pathname,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      authorization: `Basic ${clientOf(auth)}`,
    },
    body: form.toString(),
    timeoutMs: TIMEOUT_MS,
    idle: false,
    signal: NEVER,
  });
  const { status } = incoming;
  if (status !== 200) {
    incoming.close();
    const { retryAfterMs } = readFailure(incoming, '');
    const kind = IS_REFUSAL.has(status) ? 'refused' : status >= 500 || status === 429 ? 'unreachable' : 'answer';
    throw new McpTokenFault(kind, `the token endpoint answered with status ${status}`, retryAfterMs);
  }
  return read(parsed(await incoming.text(MOST_BYTES)));
}

/** Id and secret, each form-encoded. // RFC 6749 2.3.1 */
function clientOf({ clientId, clientSecret }: McpServerOAuth): string {
  const encoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);
  return Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString('base64');
}

function read({ access_token: value, token_type: type, expires_in: seconds }: JsonObject): GivenToken {
  if (typeof value !== 'string' || value.length > MOST_LETTERS || !TOKEN.test(value))
    throw answer(`no access token of at most ${MOST_LETTERS} printable characters`);
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') throw answer('no token of type Bearer');
  return { value, lifetimeMs: lifetimeOf(seconds) };
}

function lifetimeOf(seconds: Json | undefined): number | undefined {
  const told = typeof seconds === 'string' && /^\d{1,10}$/.test(seconds) ? Number(seconds) : seconds;
  return typeof told === 'number' && told >= 0 ? told * 1000 : undefined;
}

function parsed(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as Json;
    if (isObject(value)) return value;
  } catch {
    // Said below, without the text: it may hold a token.
  }
  throw answer('no JSON object');
}

function answer(what: string): McpTokenFault {
  return new McpTokenFault('answer', `the token endpoint gave ${what}`);
}
