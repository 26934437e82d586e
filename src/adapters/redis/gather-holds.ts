import type { HoldDecision, HoldRequest } from '#/ports/limit-counters.ts';

/** Places holds of one organization and one owner; resolves with a decision for each. */
export type PlaceHolds = (requests: readonly HoldRequest[]) => Promise<readonly HoldDecision[]>;

interface Gathered {
  readonly requests: HoldRequest[];
  readonly waiting: {
    readonly resolve: (decision: HoldDecision) => void;
    readonly reject: (fault: unknown) => void;
  }[];
}

/** The store does nothing else meanwhile: about a millisecond. */
const MOST_AT_ONCE = 50;

/**
 * Asks once for all the holds of an organization that are asked for in the same turn of the event loop: the busier the
 * gateway, the less each costs it and the store. Nothing waits for an earlier answer.
 */
export function gatherHolds(place: PlaceHolds): (request: HoldRequest) => Promise<HoldDecision> {
  let gathered = new Map<string, Gathered>();
  const flush = (): void => {
    const all = gathered;
    gathered = new Map();
    for (const one of all.values()) void answer(one, place);
  };
  return (request) => {
    const { organization, owner } = request;
    if (gathered.size === 0) setImmediate(flush);
    let own = gathered.get(organization);
    if (own && (own.requests.length === MOST_AT_ONCE || own.requests[0]?.owner !== owner)) {
      void answer(own, place);
      own = undefined;
    }
    if (!own) gathered.set(organization, (own = { requests: [], waiting: [] }));
    const { requests, waiting } = own;
    requests.push(request);
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  };
}

async function answer({ requests, waiting }: Gathered, place: PlaceHolds): Promise<void> {
  try {
    const decisions = await place(requests);
    for (const [index, { resolve }] of waiting.entries()) resolve(decisions[index]!);
  } catch (fault) {
    for (const { reject } of waiting) reject(fault);
  }
}
