import { UpstreamFault } from '#/ports/provider.ts';
import { isObject } from '#/wire/document/json.ts';
import type { Transport } from '../http/transport.ts';

/** What a service account's key file says, as far as it is needed. */
export interface ServiceAccount {
  readonly email: string;
  readonly privateKey: string;
  /** Where tokens are given out. */
  readonly tokenUri: string;
}

/** The token endpoint refused the service account: its key was revoked, or it never was one. */
export class CredentialRefused extends Error {
  override readonly name = 'CredentialRefused';
}

/** Gives an access token, fetched when it is first asked for and again shortly before it ends. */
export type AccessToken = () => Promise<string>;

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const TOKEN_URI = 'https://oauth2.googleapis.com/token';
const TIMEOUT_MS = 10_000;
const MAX_ANSWER = 256 * 1024;

/** Reads the JSON key file of a service account. Throws TypeError without repeating any of it. */
export function readServiceAccount(secret: string): ServiceAccount {
  let key: unknown;
  try {
    key = JSON.parse(secret);
  } catch {
    // Told below: the text of the error would hold the secret.
  }
  const file = isObject(key) ? key : {};
  const { client_email: email, private_key: privateKey, token_uri: tokenUri } = file;
  if (typeof email !== 'string' || typeof privateKey !== 'string') {
    throw new TypeError('a gcp_service_account credential must be the JSON key file of a service account');
  }
  return {
    email,
    privateKey,
    tokenUri: typeof tokenUri === 'string' ? tokenUri : TOKEN_URI,
  };
}

/**
 * Access tokens of a service account. Calls at the same time wait for one fetch. Rejects with `CredentialRefused`, or
 * with `UpstreamFault` when the token endpoint cannot be reached.
 */
export function serviceAccountToken(account: ServiceAccount, transport: Transport): AccessToken {
  // Loaded with the first call: it is large, and most installations never need it.
  const client = lazily(async () => {
    const { JWT } = await import('google-auth-library');
    return new JWT({
      email: account.email,
      key: account.privateKey,
      scopes: [SCOPE],
      // The library knows one token endpoint only: the account's own is put in its place here and below.
      additionalClaims: { aud: account.tokenUri },
      transporterOptions: {
        fetchImplementation: (_input, init) => fetchToken(account.tokenUri, init?.body, transport),
      },
    });
  });
  return async () => {
    try {
      const { token } = await (await client()).getAccessToken();
      if (typeof token === 'string') return token;
    } catch (thrown) {
      throw explain(thrown);
    }
    throw new UpstreamFault('protocol', 'the token endpoint gave no access token');
  };
}

/** A `fetch` of tokens over the connections that everything else goes over, and under the same rules. */
async function fetchToken(uri: string, body: unknown, transport: Transport): Promise<Response> {
  const { origin, pathname, search } = new URL(uri);
  const incoming = await transport.send({
    method: 'POST',
    origin,
    path: pathname + search,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: String(body),
    timeoutMs: TIMEOUT_MS,
    idle: false,
    // Many calls may wait for this token: none of them gives it up for the others.
    signal: new AbortController().signal,
  });
  const text = await incoming.text(MAX_ANSWER);
  const type = incoming.header('content-type') ?? 'application/json';
  return new Response(text, { status: incoming.status, headers: { 'content-type': type } });
}

/** What an error of the library means. Its text may hold the request, which holds a signed assertion. */
function explain(thrown: unknown): Error {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof UpstreamFault) return error;
    const status = (error as { status?: unknown }).status;
    if (typeof status === 'number' && status >= 400 && status < 500) {
      return new CredentialRefused('the token endpoint refused the service account');
    }
    // A key that is no key fails while it signs, before anything is sent.
    const code = (error as { code?: unknown }).code;
    if (typeof code === 'string' && code.startsWith('ERR_OSSL')) {
      return new CredentialRefused('the key of the service account is not a private key');
    }
  }
  return new UpstreamFault('connect', 'no access token could be fetched');
}

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
