import type { FastifyReply } from 'fastify';
import { errorHeaders } from '#/errors/envelopes.ts';
import type { GatewayError } from '#/errors/gateway-error.ts';
import { letGo } from './let-go.ts';
import type { ClientProtocol } from './client-protocol.ts';

/** Answers with a failure: its status, headers and envelope. The rest of the request is discarded. */
export function sendFailure(
  reply: FastifyReply,
  protocol: ClientProtocol,
  error: GatewayError,
  callId: string,
): FastifyReply {
  letGo(reply.request.raw);
  return reply
    .code(error.status)
    .headers({
      ...(error.limits && protocol.limitHeaders(error.limits, Date.now())),
      ...errorHeaders(error),
      ...protocol.failureHeaders?.(error),
    })
    .type('application/json; charset=utf-8')
    .send(protocol.failure(error, callId));
}
