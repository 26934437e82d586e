import type { FastifyReply, FastifyRequest } from 'fastify';
import { newCallId } from '#/call/call-id.ts';
import { identify, type Caller, type KeyStore } from './caller.ts';
import type { Door } from './door.ts';
import { requireOnce } from './once.ts';
import type { RequestHeaders, Voice } from './voice.ts';

/** A request whose caller is known and whose body is not read yet. */
export interface Arrival extends Caller {
  /** The id of headers, envelopes and the audit trail. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly headers: RequestHeaders;
  /** Where it came in; undefined for what is answered without the corridor. */
  readonly door: Door | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    arrival: Arrival | undefined;
    /** In which it is answered; undefined as long as no route was found. */
    voice: Voice | undefined;
  }
}

/**
 * Knows the caller before a byte of the body is read: strangers send none. Throws as `requireOnce`,
 * `identify` and the voice's `readHeaders` do.
 */
export function arrive(
  request: FastifyRequest,
  reply: FastifyReply,
  keys: KeyStore,
  voice: Voice,
  door?: Door,
): Arrival {
  const startedAt = Date.now();
  request.voice = voice;
  const id = numberReply(reply, voice, startedAt);
  const { headers } = request;
  requireOnce(request.raw.rawHeaders, headers);
  const arrival = { id, startedAt, headers, door, ...identify(headers, keys) };
  // Known from here on, so that a refusal for its headers is sealed too.
  request.arrival = arrival;
  if (voice.readHeaders) request.arrival = { ...arrival, headers: voice.readHeaders(headers) };
  return request.arrival;
}

/** Gives the answer an id of its own, in the headers where its clients look for it. */
export function numberReply(reply: FastifyReply, voice: Voice, now: number): string {
  const id = newCallId(now);
  for (const name of voice.idHeaders) reply.header(name, id);
  return id;
}

/** The id that `numberReply` gave; empty where none was. */
export function idOf(reply: FastifyReply): string {
  return String(reply.getHeader('x-request-id') ?? '');
}

/** The arrival of a request that was admitted. */
export function arrivalOf({ arrival }: FastifyRequest): Arrival {
  if (!arrival) throw new Error('a handler ran before its caller was known');
  return arrival;
}
