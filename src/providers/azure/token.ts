import { UpstreamFault } from '#/ports/provider.ts';
import { isObject } from '#/wire/document/json.ts';
import type { Transport } from '../http/transport.ts';

const SCOPE = 'https://cognitiveservices.azure.com/.default';
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** A token is renewed this long before it ends, so that none ends on its way. */
const MARGIN_MS = 60_000;

interface Token {
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly renewAt: number;
}

/** Returns the bearer token for an application's secret. Rejects with `UpstreamFault` if it cannot get one. */
export type AzureTokens = (secret: string) => Promise<string>;

/**
 * Fetches tokens of Entra applications by their credentials: JSON with `tenantId`, `clientId`, `clientSecret` and, where
 * it is not Microsoft's public service, `tokenUrl`. Kept until they end; calls that need one at once share one fetch.
 */
export function azureTokens(transport: Transport): AzureTokens {
  const tokens = new Map<string, Promise<Token>>();
  const renew = (secret: string): Promise<Token> => {
    const fetched = fetchToken(secret, transport);
    tokens.set(secret, fetched);
    // A failure is not kept: the next call tries again.
    fetched.catch(() => tokens.get(secret) === fetched && tokens.delete(secret));
    return fetched;
  };
  return async (secret) => {
    const known = tokens.get(secret);
    let token = await (known ?? renew(secret));
    if (Date.now() >= token.renewAt) {
      const newer = tokens.get(secret);
      token = await (newer && newer !== known ? newer : renew(secret));
    }
    return token.value;
  };
}

async function fetchToken(secret: string, transport: Transport): Promise<Token> {
  const { url, form } = readSecret(secret);
  const incoming = await transport.send({
    method: 'POST',
    origin: url.origin,
    path: url.pathname + url.search,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: form,
    timeoutMs: TIMEOUT_MS,
    idle: false,
    signal: new AbortController().signal,
  });
  const text = await incoming.text(MAX_ANSWER_BYTES);
  const answer = parse(text);
  const value = answer?.['access_token'];
  const seconds = Number(answer?.['expires_in']);
  if (incoming.status !== 200 || typeof value !== 'string' || !(seconds > 0)) throw noToken();
  return { value, renewAt: Date.now() + Math.max(seconds * 1000 - MARGIN_MS, (seconds * 1000) / 2) };
}

function readSecret(secret: string): { url: URL; form: string } {
  const { tenantId, clientId, clientSecret, tokenUrl } = parse(secret) ?? {};
  if (typeof tenantId !== 'string' || typeof clientId !== 'string' || typeof clientSecret !== 'string') throw noToken();
  const own = `https://login.microsoftonline.com/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`;
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    scope: SCOPE,
  });
  return { url: new URL(typeof tokenUrl === 'string' ? tokenUrl : own), form: form.toString() };
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Says nothing of the answer, which may repeat the secret. */
function noToken(): UpstreamFault {
  return new UpstreamFault('connect', 'the identity service gave no token');
}
