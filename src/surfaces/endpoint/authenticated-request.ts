import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuthenticatedRequest, Caller, Endpoint } from './endpoint.ts';
import type { ClientProtocol, RequestHeaders } from './client-protocol.ts';
import { hash } from 'node:crypto';
import { newCallId } from '#/call/call-id.ts';
import type { Snapshot, VirtualKeyConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';

declare module 'fastify' {
  interface FastifyRequest {
    authenticated: AuthenticatedRequest | undefined;
    /** In which it is answered; undefined as long as no route was found. */
    clientProtocol: ClientProtocol | undefined;
  }
}

/**
 * Knows the caller before a byte of the body is read: strangers send none. Throws as `requireOnce`,
 * `identify` and the protocol's `readHeaders` do. `known`: the caller, where something other than a key said who it is.
 */
export function authenticate(
  request: FastifyRequest,
  reply: FastifyReply,
  keys: KeyStore,
  protocol: ClientProtocol,
  endpoint?: Endpoint,
  known?: Caller,
): AuthenticatedRequest {
  const startedAt = Date.now();
  request.clientProtocol = protocol;
  const id = numberReply(reply, protocol, startedAt);
  const { headers } = request;
  const { rawHeaders } = request.raw;
  // As many names as values tell at once that none repeats.
  if (Object.keys(headers).length * 2 !== rawHeaders.length) requireOnce(rawHeaders);
  const authenticated = { id, startedAt, headers, endpoint, ...(known ?? identify(headers, keys)) };
  // Known from here on, so that a refusal for its headers is sealed too.
  request.authenticated = authenticated;
  if (protocol.readHeaders) request.authenticated = { ...authenticated, headers: protocol.readHeaders(headers) };
  return request.authenticated;
}

/** Gives the answer an id of its own, in the headers where its clients look for it. */
export function numberReply(reply: FastifyReply, protocol: ClientProtocol, now: number): string {
  const id = newCallId(now);
  for (const name of protocol.idHeaders) reply.header(name, id);
  return id;
}

/** The id that `numberReply` gave; empty where none was. */
export function idOf(reply: FastifyReply): string {
  return String(reply.getHeader('x-request-id') ?? '');
}

/** The request as it was admitted. */
export function authenticatedOf({ authenticated }: FastifyRequest): AuthenticatedRequest {
  if (!authenticated) throw new Error('a handler ran before its caller was known');
  return authenticated;
}

/** All that tells callers apart: the configuration in force, and whether it can be believed to be complete. */
export interface KeyStore {
  current(): Snapshot | undefined;
  /** Whether a key that the snapshot does not have, by its SHA-256 (hex), may be good nevertheless. */
  mayHold(hash: string): boolean;
  /** The same of a key by its id. */
  mayHoldId(id: string): boolean;
}

/**
 * Who sends a request: the key is hashed and looked up in memory. // spec 5.1, 5.2, 5.7
 * Throws `invalid_api_key`, or `auth_unavailable` where the key may be good but the store could not be read.
 */
function identify(headers: RequestHeaders, store: KeyStore): Caller {
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

/**
 * Headers that decide about a request, in addition to our own: if one is repeated, readers could disagree on its value.
 */
const ONCE: ReadonlySet<string> = new Set([
  'authorization',
  'host',
  'x-api-key',
  'content-type',
  'content-encoding',
  'content-length',
  'transfer-encoding',
  'expect',
]);

/** Throws `invalid_request` where a header that decides comes twice. `rawHeaders`: names and values in turn. */
function requireOnce(rawHeaders: readonly string[]): void {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (!ONCE.has(name) && !name.startsWith('x-gw-')) continue;
    if (seen.has(name)) {
      throw new GatewayError('invalid_request', `The header ${name} must be sent only once.`, { param: name });
    }
    seen.add(name);
  }
}
