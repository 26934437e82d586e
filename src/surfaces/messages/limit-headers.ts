import type { Limits } from '#/call/call.ts';

/** `anthropic-ratelimit-*`: the time of a reset as RFC 3339, in whole seconds. // wire-formats 1.2 */
export function limitHeaders(limits: Limits, now: number): Record<string, string> {
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
