import { hash } from 'node:crypto';
import type { Snapshot, VirtualKeyConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { RequestHeaders } from './voice.ts';

/** What the door knows of its callers: the configuration in force, and whether it can be believed to be complete. */
export interface KeyStore {
  current(): Snapshot | undefined;
  /** Whether a key that the snapshot does not have, by its SHA-256 (hex), may be good nevertheless. */
  mayHold(hash: string): boolean;
}

/** A caller and the configuration its call keeps to its end. */
export interface Caller {
  readonly key: VirtualKeyConfig;
  readonly snapshot: Snapshot;
}

/**
 * Who sends a request: the key is hashed and looked up in memory. // spec 5.1, 5.2, 5.7
 * Throws `invalid_api_key`, or `auth_unavailable` where the key may be good but the store could not be read.
 */
export function identify(headers: RequestHeaders, store: KeyStore): Caller {
  const secret = presentedKey(headers);
  const snapshot = store.current();
  if (!snapshot) throw unavailable();
  const digest = hash('sha256', secret, 'hex');
  const key = snapshot.keys.get(digest);
  if (!key) throw store.mayHold(digest) ? unavailable() : unknown('The API key is unknown.');
  if (key.revoked) throw unknown('The API key was revoked.');
  if (key.expiresAt !== undefined && key.expiresAt <= Date.now()) throw unknown('The API key has expired.');
  return { key, snapshot };
}

/** The key that a request is sent with, where it is good. */
export function knows(headers: RequestHeaders, store: KeyStore): VirtualKeyConfig | undefined {
  try {
    return identify(headers, store).key;
  } catch {
    return undefined;
  }
}

/** The key of `Authorization: Bearer` or `x-api-key`; both are fine when they agree. */
function presentedKey(headers: RequestHeaders): string {
  const authorization = headers['authorization'];
  const bearer = typeof authorization === 'string' ? /^Bearer +(\S+) *$/i.exec(authorization)?.[1] : undefined;
  // Tools that were given a bearer key send the other header empty.
  const apiKey = headers['x-api-key'] === '' ? undefined : headers['x-api-key'];
  if (authorization !== undefined && bearer === undefined)
    throw unknown('Authorization must have the form Bearer <API key>.');
  if (apiKey !== undefined && typeof apiKey !== 'string') throw unknown('x-api-key must be sent only once.');
  if (bearer !== undefined && apiKey !== undefined && bearer !== apiKey) {
    throw unknown('Authorization and x-api-key carry different API keys.');
  }
  const secret = bearer ?? apiKey;
  if (!secret) throw unknown('The API key is missing. Send Authorization: Bearer <API key>, or x-api-key.');
  return secret;
}

function unknown(message: string): GatewayError {
  return new GatewayError('invalid_api_key', message);
}

function unavailable(): GatewayError {
  return new GatewayError(
    'auth_unavailable',
    'API keys cannot be checked at the moment. The key may be valid. Try again.',
  );
}
