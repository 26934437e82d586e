import type { FastifyReply } from 'fastify';
import { errorHeaders } from '#errors/envelopes.ts';
import type { GatewayError } from '#errors/gateway-error.ts';
import type { Voice } from './voice.ts';

/** Answers with a failure: its status, headers and envelope. */
export function sendFailure(reply: FastifyReply, voice: Voice, error: GatewayError, callId: string): FastifyReply {
  return reply
    .code(error.status)
    .headers({ ...(error.limits && voice.limitHeaders(error.limits, Date.now())), ...errorHeaders(error) })
    .type('application/json; charset=utf-8')
    .send(voice.failure(error, callId));
}
