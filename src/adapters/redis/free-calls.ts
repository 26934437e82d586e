import type { HoldDecision, HoldRequest, SpendLimit } from '#ports/limit-counters.ts';

/** Counts calls that are free and alike; resolves with a decision for each. */
export type CountAlike = (request: HoldRequest, calls: number) => Promise<readonly HoldDecision[]>;

interface Group {
  readonly request: HoldRequest;
  readonly waiting: PromiseWithResolvers<HoldDecision>[];
}

/**
 * Asks once for all the free calls of a workload that come in the same turn of the event loop: what they would be told
 * differs by their order only. A hit of the cache is little work, and asking for each would be most of it.
 */
export function gatherFreeCalls(count: CountAlike): (request: HoldRequest) => Promise<HoldDecision> {
  let groups: Group[] = [];
  const flush = (): void => {
    const full = groups;
    groups = [];
    for (const group of full) void answer(group, count);
  };
  return (request) => {
    let group = groups.find((one) => alike(one.request, request));
    if (!group) {
      if (groups.length === 0) setImmediate(flush);
      groups.push((group = { request, waiting: [] }));
    }
    const decision = Promise.withResolvers<HoldDecision>();
    group.waiting.push(decision);
    return decision.promise;
  };
}

async function answer({ request, waiting }: Group, count: CountAlike): Promise<void> {
  try {
    const decisions = await count(request, waiting.length);
    for (const [index, { resolve }] of waiting.entries()) resolve(decisions[index]!);
  } catch (error) {
    for (const { reject } of waiting) reject(error);
  }
}

/** Whether the store is asked the same for both. */
function alike(a: HoldRequest, b: HoldRequest): boolean {
  return (
    a.workload === b.workload &&
    a.organization === b.organization &&
    a.requestsPerMinute === b.requestsPerMinute &&
    a.tokensPerMinute === b.tokensPerMinute &&
    a.periods.day === b.periods.day &&
    a.periods.month === b.periods.month &&
    sameLimit(a.workloadBudget, b.workloadBudget) &&
    sameLimit(a.organizationCap, b.organizationCap)
  );
}

function sameLimit(a: SpendLimit | undefined, b: SpendLimit | undefined): boolean {
  return a === b || (a?.period === b?.period && a?.amount === b?.amount);
}
