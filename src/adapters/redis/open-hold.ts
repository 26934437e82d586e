import type { OpenHold } from '#/ports/limit-counters.ts';

type Facts = readonly [workload: string, day: string, month: string, amount: string, tokens: number, at: number];

/**
 * A hold as it is stored, less the first line that the scripts write: owner, facts and draft, a line each.
 * The amount is text: Lua reads numbers as doubles.
 */
export function encodeHold(hold: OpenHold): string {
  const { day, month } = hold.periods;
  const facts: Facts = [hold.workload, day, month, String(hold.amount), hold.tokens, hold.at];
  return `${encodeOwner(hold.owner)}\n${JSON.stringify(facts)}\n${hold.draft}`;
}

/** The line of a stored hold that names its owner. */
export function encodeOwner(owner: string): string {
  return JSON.stringify(owner);
}

/** Reads a hold as it is stored: four lines, of which the last, the draft, may itself have several. */
export function decodeHold(organization: string, callId: string, stored: string): OpenHold {
  const owner = stored.indexOf('\n') + 1;
  const facts = stored.indexOf('\n', owner) + 1;
  const draft = stored.indexOf('\n', facts) + 1;
  const [workload, day, month, amount, tokens, at] = JSON.parse(stored.slice(facts, draft)) as Facts;
  return {
    callId,
    owner: JSON.parse(stored.slice(owner, facts)) as string,
    organization,
    workload,
    at,
    periods: { day, month },
    amount: BigInt(amount),
    tokens,
    draft: stored.slice(draft),
  };
}

/** Reads `id, hold, id, hold, …` as the scripts answer it. */
export function decodeHolds(organization: string, flat: readonly string[]): OpenHold[] {
  const holds: OpenHold[] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) holds.push(decodeHold(organization, flat[i]!, flat[i + 1]!));
  return holds;
}
