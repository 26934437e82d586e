import type { HoldRequest, OpenHold, Settlement, SpendLimit } from '#/ports/limit-counters.ts';
import type { NanoEuro } from '#/values/money.ts';

/** The most a counter can hold: what fits in 64 bits with a sign. */
export const MOST: NanoEuro = 2n ** 63n - 1n;

/** Cuts an amount to what a counter can hold. */
export function clamp(amount: NanoEuro): NanoEuro {
  return amount > MOST ? MOST : amount;
}

/** What may have been spent before, for `amount` more to stay within `limit`. Negative when the amount alone is too much. */
export function room(limit: SpendLimit, amount: NanoEuro): NanoEuro {
  return clamp(limit.amount) - amount;
}

/** A limit is near when it lets fewer than so many more calls through that hold as much. */
const NEAR_CALLS = 16;

/** What may have been spent before a hold of `amount` for the limit not to be near. */
export function nearRoom(limit: SpendLimit, amount: NanoEuro): NanoEuro {
  return room(limit, BigInt(NEAR_CALLS) * amount);
}

/** What may have been used of the tokens per minute for the limit not to be near; 0 without a limit. */
export function nearTokens({ tokensPerMinute, tokens }: Pick<HoldRequest, 'tokensPerMinute' | 'tokens'>): number {
  return tokensPerMinute === undefined ? 0 : tokensPerMinute - NEAR_CALLS * tokens;
}

/** Throws RangeError on amounts and counts that no limit can be checked against. */
export function checkHold(hold: OpenHold): void {
  checkAmount(hold.amount);
  checkCount(hold.tokens);
}

/** Throws RangeError on a request whose amounts, counts or limits make no sense. */
export function checkRequest(request: HoldRequest): void {
  checkHold(request);
  if (request.free === true && (request.amount > 0n || request.tokens > 0)) {
    throw new RangeError('a free call must have no amount and no tokens');
  }
  if (request.requestsPerMinute !== undefined) checkCount(request.requestsPerMinute);
  if (request.tokensPerMinute !== undefined) checkCount(request.tokensPerMinute);
}

/** Throws RangeError on a settlement with a negative cost, or one that no counter can hold. */
export function checkSettlement(settlement: Settlement): void {
  checkAmount(settlement.cost);
  checkCount(settlement.tokens);
}

function checkAmount(amount: NanoEuro): void {
  if (amount < 0n || amount > MOST) throw new RangeError('an amount must be between 0 and 2^63 - 1 nano-euro');
}

function checkCount(count: number): void {
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError('a count must be a whole number from 0');
}
