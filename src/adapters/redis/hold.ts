import { MOST, room, nearRoom, nearTokens } from '../memory/spend.ts';
import type { HoldDecision, HoldRequest, LimitName, RateStatus } from '#/ports/limit-counters.ts';
import { encodeHold } from './open-hold.ts';
import { runOn, type Store } from './store.ts';

const REFUSALS: readonly LimitName[] = ['requests', 'tokens', 'budget', 'cap', 'credit'];
const COLD = REFUSALS.length + 1;
const BUSY = COLD + 1;
/** Granted, near a limit. */
const NEAR = BUSY + 1;
/** How many numbers the script answers for each hold. */
const NUMBERS = 6;
/** Where it says how many of several calls it let through. */
const GRANTED_CALLS = NUMBERS;

/**
 * Places holds of one organization and one owner in one step, as if they came one after the other; resolves with the
 * decisions in that order. `witness`: another that this process has in flight there, which the store must know; or empty.
 */
export async function placeHolds(
  store: Store,
  requests: readonly HoldRequest[],
  witness: string,
): Promise<readonly HoldDecision[]> {
  const reply = await ask(store, requests, witness, '');
  return requests.map((request, index) => decision(request, reply, index * NUMBERS));
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
  const reply = await ask(store, [request], witness, String(calls));
  const last = decision(request, reply, 0);
  if (last.kind !== 'granted') return Array.from({ length: calls }, () => last);
  const { requests } = last;
  const granted = Math.min(calls, Math.max(1, reply[GRANTED_CALLS] ?? calls));
  const decisions = Array.from({ length: granted }, (_, index): HoldDecision => {
    const later = granted - 1 - index;
    if (!requests || later === 0) return last;
    return { ...last, requests: { ...requests, remaining: requests.remaining + later } };
  });
  // Calls that did not fit learn when they would.
  return granted === calls
    ? decisions
    : [...decisions, ...(await countCalls(store, request, witness, calls - granted))];
}

async function ask(
  store: Store,
  requests: readonly HoldRequest[],
  witness: string,
  calls: string,
): Promise<readonly number[]> {
  const { organization, owner } = requests[0]!;
  const args = [store.clock(), owner, witness, calls];
  for (const request of requests)
    args.push(request.callId, request.workload, limitsLine(request), calls === '' ? encodeHold(request) : '');
  return (await runOn(store, 'hold', organization, args)) as readonly number[];
}

/** One argument for many: each costs time of its own. What may have been spent is computed here, where integers are exact. */
function limitsLine(request: HoldRequest): string {
  const { periods, amount, tokens, tokensPerMinute, workloadBudget: budget, organizationCap: cap } = request;
  return (
    `${periods.day} ${periods.month} ${amount} ${MOST - amount} ` +
    `${budget ? `${budget.period} ${room(budget, amount)}` : '- -'} ${cap ? `${cap.period} ${room(cap, amount)}` : '- -'} ` +
    `${request.requestsPerMinute ?? '-'} ${tokensPerMinute ?? '-'} ${tokens} ${request.prepaid === true ? 1 : '-'} ` +
    `${budget ? nearRoom(budget, amount) : '-'} ${cap ? nearRoom(cap, amount) : '-'} ${nearTokens(request)}`
  );
}

function decision(request: HoldRequest, reply: readonly number[], at: number): HoldDecision {
  const verdict = reply[0] === BUSY ? BUSY : (reply[at] ?? BUSY);
  if (verdict === COLD) return { kind: 'cold' };
  if (verdict === BUSY) return { kind: 'busy' };
  const { requestsPerMinute, tokensPerMinute } = request;
  const requests = requestsPerMinute === undefined ? undefined : status(requestsPerMinute, reply, at + 2);
  const tokens = tokensPerMinute === undefined ? undefined : status(tokensPerMinute, reply, at + 4);
  const rates = { ...(requests && { requests }), ...(tokens && { tokens }) };
  if (verdict === NEAR) return { kind: 'granted', near: true, ...rates };
  const by = REFUSALS[verdict - 1];
  if (!by) return { kind: 'granted', ...rates };
  const retryAfterMs = reply[at + 1] ?? -1;
  return { kind: 'refused', by, ...(retryAfterMs >= 0 && { retryAfterMs }), ...rates };
}

function status(limit: number, reply: readonly number[], at: number): RateStatus {
  return { limit, remaining: reply[at] ?? 0, resetMs: reply[at + 1] ?? 0 };
}
