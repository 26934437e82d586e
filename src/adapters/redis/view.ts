import { randomUUID } from 'node:crypto';
import type { CountersView, Credit, OpenHold } from '#/ports/limit-counters.ts';
import { decodeHolds } from './open-hold.ts';
import { overtaken, pause, release } from './pause.ts';
import { runOn, type Store } from './store.ts';

type Reply = readonly [
  now: number,
  holds: readonly string[] | null,
  closed: readonly string[],
  ...periods: (string | readonly string[])[],
];

/** Fields of the total that are no counters. */
const CREDIT_NUMBER = 'cn';
const CREDIT_SUM = 'c';
const PAGE = 1000;
const MOST_ASKED = 500;
/** Holds that one script may list: other calls wait a few milliseconds meanwhile. */
const MOST_IN_ONE = 2000;

/**
 * Everything kept for one organization at one instant: read by one script or, where there are very many holds, by pages
 * while only calls of the organization have to wait.
 */
export async function viewOrganization(
  store: Store,
  organization: string,
  closedSince: number | undefined,
): Promise<CountersView> {
  const { holds, ...rest } = await read(store, organization, closedSince, MOST_IN_ONE);
  if (holds) return { ...rest, holds };
  const token = randomUUID();
  await pause(store, organization, token);
  try {
    const { holds: _, ...counters } = await read(store, organization, closedSince, -1);
    // The last page is refused where the pause did not last from the counters on.
    const open = await holdsOf(store, organization, token);
    if (!open) throw overtaken();
    return { ...counters, holds: open };
  } finally {
    await release(store, organization, token);
  }
}

/** Holds are undefined where there are more than `most`. */
async function read(
  store: Store,
  organization: string,
  closedSince: number | undefined,
  most: number,
): Promise<Omit<CountersView, 'holds'> & { readonly holds: readonly OpenHold[] | undefined }> {
  const args = [store.clock(), String(closedSince ?? ''), String(most)];
  const [now, holds, closed, ...periods] = (await runOn(store, 'view', organization, args)) as Reply;
  const spend: { scope: string; period: string; amount: bigint }[] = [];
  let credit: Credit | undefined;
  for (let i = 0; i + 1 < periods.length; i += 2) {
    const period = periods[i] as string;
    const { [CREDIT_NUMBER]: number, [CREDIT_SUM]: sum, ...counters } = fieldsOf(periods[i + 1] as readonly string[]);
    if (number !== undefined && sum !== undefined) credit = { number: Number(number), sum: BigInt(sum) };
    for (const [field, amount] of Object.entries(counters))
      spend.push({ scope: scopeOf(field), period, amount: BigInt(amount) });
  }
  return {
    now,
    holds: holds ? decodeHolds(organization, holds) : undefined,
    spend,
    ...(credit && { credit }),
    ...(closedSince !== undefined && { closed }),
  };
}

/**
 * The open holds of an organization, a page at a time, so that no other command waits for long: not as of one instant,
 * but with all that are there all the while. Within a pause (`token`), undefined when it is no longer the caller's.
 */
export async function holdsOf(store: Store, organization: string, token = ''): Promise<OpenHold[] | undefined> {
  const holds = new Map<string, OpenHold>();
  let from = '0';
  do {
    const reply = await runOn(store, 'page', organization, [from, String(PAGE), token]);
    if (!reply) return undefined;
    const [next, page] = reply as readonly [string, readonly string[]];
    for (const hold of decodeHolds(organization, page)) holds.set(hold.callId, hold);
    from = next;
  } while (from !== '0');
  return [...holds.values()];
}

/** Those of these calls that are open. */
export async function findHolds(store: Store, organization: string, callIds: readonly string[]): Promise<OpenHold[]> {
  const holds: OpenHold[] = [];
  for (let from = 0; from < callIds.length; from += MOST_ASKED) {
    const reply = await runOn(store, 'find', organization, callIds.slice(from, from + MOST_ASKED));
    holds.push(...decodeHolds(organization, reply as readonly string[]));
  }
  return holds;
}

function fieldsOf(flat: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(flat.flatMap((field, i) => (i % 2 === 0 ? [[field, flat[i + 1]!]] : [])));
}

function scopeOf(field: string): string {
  return field === 'o' ? 'organization' : field.slice('w:'.length);
}
