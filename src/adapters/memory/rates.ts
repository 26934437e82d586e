import type { HoldRequest, LimitName, RateStatus } from '#/ports/limit-counters.ts';
import type { OrganizationState } from './organization-state.ts';
import { advance, emptyWindow, resetMs, use, waitFor, type SlidingWindow } from './sliding-window.ts';

/** The per-minute limits of one request, checked at one instant. */
export interface Rates {
  readonly requests: SlidingWindow | undefined;
  readonly tokens: SlidingWindow | undefined;
  readonly second: number;
  readonly refusal: { readonly by: LimitName; readonly retryAfterMs?: number } | undefined;
  /** How the limits stand, with what was taken since the check. */
  statuses(): { readonly requests?: RateStatus; readonly tokens?: RateStatus };
}

/** Checks requests and tokens per minute; takes nothing. */
export function checkRates(organization: OrganizationState, request: HoldRequest, now: number): Rates {
  const { workload, requestsPerMinute, tokensPerMinute } = request;
  const second = Math.floor(now / 1000);
  const requests = requestsPerMinute === undefined ? undefined : openWindow(organization.requests, workload, second);
  const tokens = tokensPerMinute === undefined ? undefined : openWindow(organization.tokens, workload, second);
  const refusal =
    refusalBy('requests', requests, now, 1, requestsPerMinute) ??
    refusalBy('tokens', tokens, now, request.tokens, tokensPerMinute);
  return {
    requests,
    tokens,
    second,
    refusal,
    statuses: () => ({
      ...(requests && { requests: status(requests, now, requestsPerMinute!) }),
      ...(tokens && { tokens: status(tokens, now, tokensPerMinute!) }),
    }),
  };
}

/** Takes one request and its tokens. Returns the second in which the tokens are counted; 0: in none. */
export function takeRates(rates: Rates, tokens: number): number {
  if (rates.requests) use(rates.requests, rates.second, 1);
  return rates.tokens ? use(rates.tokens, rates.second, tokens) : 0;
}

function openWindow(windows: Map<string, SlidingWindow>, workload: string, second: number): SlidingWindow {
  let window = windows.get(workload);
  if (!window) windows.set(workload, (window = emptyWindow()));
  advance(window, second);
  return window;
}

function refusalBy(
  by: LimitName,
  window: SlidingWindow | undefined,
  now: number,
  uses: number,
  limit: number | undefined,
): Rates['refusal'] {
  if (!window || limit === undefined || window.sum + uses <= limit) return undefined;
  const retryAfterMs = waitFor(window, now, uses, limit);
  return { by, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function status(window: SlidingWindow, now: number, limit: number): RateStatus {
  return { limit, remaining: Math.max(0, limit - window.sum), resetMs: resetMs(window, now) };
}
