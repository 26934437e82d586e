import type { HoldDecision, HoldRequest, SpendLimit } from '#/ports/limit-counters.ts';

/** Counts calls that are free and alike; resolves with a decision for each. */
export type CountAlike = (request: HoldRequest, calls: number) => Promise<readonly HoldDecision[]>;

interface Group {
  readonly request: HoldRequest;
  readonly waiting: PromiseWithResolvers<HoldDecision>[];
}

/**
 * Asks once for all free calls of a workload that arrive in the same iteration of the event loop, or while the question
 * before is open: their answers differ only by their order. A cache hit is little work, and asking for
 * each would be most of it. No call waits for more than the one round trip.
 */
export function gatherFreeCalls(count: CountAlike): (request: HoldRequest) => Promise<HoldDecision> {
  /** By workload: calls of the next question. An entry means that a question is open or about to be sent. */
  const lanes = new Map<string, Group[]>();
  const flush = async (name: string): Promise<void> => {
    const groups = lanes.get(name) ?? [];
    if (groups.length === 0) return void lanes.delete(name);
    lanes.set(name, []);
    await Promise.all(groups.map((group) => answer(group, count)));
    void flush(name);
  };
  return (request) => {
    const name = `${request.organization}\n${request.workload}`;
    let lane = lanes.get(name);
    if (!lane) {
      lanes.set(name, (lane = []));
      setImmediate(() => void flush(name));
    }
    let group = lane.find((one) => alike(one.request, request));
    if (!group) lane.push((group = { request, waiting: [] }));
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

/** Whether the store is asked the same for both, which are of one workload. */
function alike(a: HoldRequest, b: HoldRequest): boolean {
  return (
    a.requestsPerMinute === b.requestsPerMinute &&
    a.tokensPerMinute === b.tokensPerMinute &&
    a.periods.day === b.periods.day &&
    a.periods.month === b.periods.month &&
    a.prepaid === b.prepaid &&
    sameLimit(a.workloadBudget, b.workloadBudget) &&
    sameLimit(a.organizationCap, b.organizationCap)
  );
}

function sameLimit(a: SpendLimit | undefined, b: SpendLimit | undefined): boolean {
  return a === b || (a?.period === b?.period && a?.amount === b?.amount);
}
