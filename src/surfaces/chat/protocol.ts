import { chatEnvelope } from '#/errors/envelopes.ts';
import { writeEvent } from '#/wire/answer/sse.ts';
import type { ClientProtocol } from '../endpoint/client-protocol.ts';
import type { Limits } from '#/ports/limit-counters.ts';

/** Chat completions, and everything else that speaks like them. // spec 6.1, 7.1 */
export const chatProtocol: ClientProtocol = {
  idHeaders: ['x-request-id'],
  failure: chatEnvelope,
  failureEvent: (error) => writeEvent(JSON.stringify(chatEnvelope(error))),
  limitHeaders,
  keepalive: ': keepalive\n\n',
};

/** `x-ratelimit-*` as OpenAI's clients read them: the time to a reset as a duration. // wire-formats 1.2 */
function limitHeaders(limits: Limits): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of ['requests', 'tokens'] as const) {
    const status = limits[name];
    if (!status) continue;
    headers[`x-ratelimit-limit-${name}`] = String(status.limit);
    headers[`x-ratelimit-remaining-${name}`] = String(status.remaining);
    headers[`x-ratelimit-reset-${name}`] = duration(status.resetMs);
  }
  return headers;
}

/** `12ms`, `7.66s`, `1m0.5s`: never less than it takes. */
function duration(ms: number): string {
  const whole = Math.ceil(ms);
  if (whole < 1000) return `${whole}ms`;
  const minutes = Math.floor(whole / 60_000);
  const seconds = (whole - minutes * 60_000) / 1000;
  return `${minutes > 0 ? `${minutes}m` : ''}${seconds}s`;
}
