import { MOST, room } from '#adapters/memory/amount.ts';
import type { HoldDecision, HoldRequest, LimitName, RateStatus, SpendLimit } from '#ports/limit-counters.ts';
import { encodeHold } from './open-hold.ts';
import { runOn, type Store } from './store.ts';

const REFUSALS: readonly LimitName[] = ['requests', 'tokens', 'budget', 'cap', 'credit'];
const COLD = REFUSALS.length + 1;
const BUSY = COLD + 1;
/** Where the script says how many of several calls it let through. */
const GRANTED_CALLS = 6;

/** Places a hold. `witness`: another that this process has in flight there, which the store must know; or empty. */
export async function placeHold(store: Store, request: HoldRequest, witness: string): Promise<HoldDecision> {
  return decision(request, await ask(store, request, witness, ''));
}

/**
 * Counts calls that are free and alike, in one step, as if they came one after the other. Resolves with the decisions in
 * that order.
 */
export async function countCalls(
  store: Store,
  request: HoldRequest,
  witness: string,
  calls: number,
): Promise<readonly HoldDecision[]> {
  const reply = await ask(store, request, witness, String(calls));
  const last = decision(request, reply);
  if (last.kind !== 'granted') return Array.from({ length: calls }, () => last);
  const { requests } = last;
  const granted = Math.min(calls, Math.max(1, reply[GRANTED_CALLS] ?? calls));
  const decisions = Array.from({ length: granted }, (_, index): HoldDecision => {
    const later = granted - 1 - index;
    if (!requests || later === 0) return last;
    return { ...last, requests: { ...requests, remaining: requests.remaining + later } };
  });
  // Those that did not fit are told when they would.
  return granted === calls
    ? decisions
    : [...decisions, ...(await countCalls(store, request, witness, calls - granted))];
}

async function ask(store: Store, request: HoldRequest, witness: string, calls: string): Promise<readonly number[]> {
  const { workloadBudget, organizationCap } = request;
  const reply = await runOn(store, 'hold', request.organization, [
    store.clock(),
    request.callId,
    request.owner,
    calls === '' ? encodeHold(request) : '',
    request.workload,
    request.periods.day,
    request.periods.month,
    String(request.amount),
    String(MOST - request.amount),
    workloadBudget?.period ?? '',
    workloadBudget ? roomText(workloadBudget, request) : '',
    organizationCap?.period ?? '',
    organizationCap ? roomText(organizationCap, request) : '',
    optionalText(request.requestsPerMinute),
    optionalText(request.tokensPerMinute),
    String(request.tokens),
    witness,
    calls,
    request.prepaid === true ? '1' : '',
  ]);
  return reply as readonly number[];
}

/** Computed here, where integers are exact: the script only compares. */
function roomText(limit: SpendLimit, request: HoldRequest): string {
  return String(room(limit, request.amount));
}

function optionalText(count: number | undefined): string {
  return count === undefined ? '' : String(count);
}

function decision(request: HoldRequest, reply: readonly number[]): HoldDecision {
  const [verdict = BUSY, retryAfterMs = -1, requestsLeft = 0, requestsReset = 0, tokensLeft = 0, tokensReset = 0] =
    reply;
  if (verdict === COLD) return { kind: 'cold' };
  if (verdict === BUSY) return { kind: 'busy' };
  const requests = status(request.requestsPerMinute, requestsLeft, requestsReset);
  const tokens = status(request.tokensPerMinute, tokensLeft, tokensReset);
  const rates = { ...(requests && { requests }), ...(tokens && { tokens }) };
  const by = REFUSALS[verdict - 1];
  if (!by) return { kind: 'granted', ...rates };
  return { kind: 'refused', by, ...(retryAfterMs >= 0 && { retryAfterMs }), ...rates };
}

function status(limit: number | undefined, remaining: number, resetMs: number): RateStatus | undefined {
  return limit === undefined ? undefined : { limit, remaining, resetMs };
}
