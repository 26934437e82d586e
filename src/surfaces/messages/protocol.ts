import { messagesEnvelope } from '#/errors/envelopes.ts';
import { writeEvent } from '#/wire/answer/sse.ts';
import type { ClientProtocol } from '../endpoint/client-protocol.ts';
import { messagesHeaders } from './headers.ts';
import type { Limits } from '#/ports/limit-counters.ts';

/** The messages vendor's protocol. // spec 6.2, 7.2 */
export const messagesProtocol: ClientProtocol = {
  idHeaders: ['x-request-id', 'request-id'],
  failure: messagesEnvelope,
  failureEvent: (error, callId) => writeEvent(JSON.stringify(messagesEnvelope(error, callId)), 'error'),
  limitHeaders,
  keepalive: writeEvent('{"type":"ping"}', 'ping'),
  readHeaders: messagesHeaders,
};

/** Whether a path belongs to the messages vendor's protocol, served or not. */
export function speaksMessages(path: string): boolean {
  return isUnder(path, '/anthropic') || isUnder(path, '/v1/messages');
}

function isUnder(path: string, root: string): boolean {
  return path.startsWith(root) && (path.length === root.length || path[root.length] === '/');
}

/** `anthropic-ratelimit-*`: the time of a reset as RFC 3339, in whole seconds. // wire-formats 1.2 */
function limitHeaders(limits: Limits, now: number): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of ['requests', 'tokens'] as const) {
    const status = limits[name];
    if (!status) continue;
    const reset = new Date(Math.ceil((now + status.resetMs) / 1000) * 1000);
    headers[`anthropic-ratelimit-${name}-limit`] = String(status.limit);
    headers[`anthropic-ratelimit-${name}-remaining`] = String(status.remaining);
    headers[`anthropic-ratelimit-${name}-reset`] = reset.toISOString().replace('.000Z', 'Z');
  }
  return headers;
}
