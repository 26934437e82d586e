import type { FastifyReply, FastifyRequest } from 'fastify';
import { newCallId } from '#pipeline/call-id.ts';
import { identify, type Caller, type KeyStore } from './caller.ts';

/** A request whose caller is known and whose body is not read yet. */
export interface Arrival extends Caller {
  /** The id of headers, envelopes and the audit trail. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    arrival: Arrival | undefined;
  }
}

/** Knows the caller before a byte of the body is read: strangers send none. Throws as `identify` does. */
export function arrive(request: FastifyRequest, reply: FastifyReply, keys: KeyStore): void {
  const startedAt = Date.now();
  const id = newCallId(startedAt);
  reply.header('x-request-id', id);
  request.arrival = { id, startedAt, ...identify(request.headers, keys) };
}
