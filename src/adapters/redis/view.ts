import type { CountersView } from '#ports/limit-counters.ts';
import { decodeHolds } from './open-hold.ts';
import { runOn, type Store } from './store.ts';

/** Everything kept for one organization, read by one script. */
export async function viewOrganization(store: Store, organization: string): Promise<CountersView> {
  const [flat, ...periods] = (await runOn(store, 'view', organization, [])) as readonly [
    readonly string[],
    ...(string | readonly string[])[],
  ];
  const spend: { scope: string; period: string; amount: bigint }[] = [];
  for (let i = 0; i + 1 < periods.length; i += 2) {
    const period = periods[i] as string;
    const counters = periods[i + 1] as readonly string[];
    for (let j = 0; j + 1 < counters.length; j += 2) {
      spend.push({ scope: scopeOf(counters[j]!), period, amount: BigInt(counters[j + 1]!) });
    }
  }
  return { holds: decodeHolds(organization, flat), spend };
}

function scopeOf(field: string): string {
  return field === 'o' ? 'organization' : field.slice('w:'.length);
}
