import type { CountersView, Credit, OpenHold } from '#ports/limit-counters.ts';
import { decodeHolds } from './open-hold.ts';
import { runOn, type Store } from './store.ts';

type Reply = readonly [
  now: number,
  holds: readonly string[],
  closed: readonly string[],
  ...periods: (string | readonly string[])[],
];

/** Fields of the total that are no counters. */
const CREDIT_NUMBER = 'cn';
const CREDIT_SUM = 'c';
const PAGE = 1000;

/** Everything kept for one organization, read by one script. */
export async function viewOrganization(
  store: Store,
  organization: string,
  closedSince: number | undefined,
): Promise<CountersView> {
  const args = [store.clock(), String(closedSince ?? '')];
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
    holds: decodeHolds(organization, holds),
    spend,
    ...(credit && { credit }),
    ...(closedSince !== undefined && { closed }),
  };
}

/**
 * The open holds of an organization, a page at a time, so that no other command waits for long: not as of one instant,
 * but with all that are there all the while. Within a restore (`token`), undefined when the pause is no longer its own.
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

function fieldsOf(flat: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(flat.flatMap((field, i) => (i % 2 === 0 ? [[field, flat[i + 1]!]] : [])));
}

function scopeOf(field: string): string {
  return field === 'o' ? 'organization' : field.slice('w:'.length);
}
