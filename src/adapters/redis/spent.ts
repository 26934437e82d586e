import type { Periods } from '#/ports/limit-counters.ts';
import type { NanoEuro } from '#/values/money.ts';
import { kindOf, openClient, type ConnectionOptions } from './connection.ts';
import { holdsKey, KEY_PREFIX } from './keys.ts';

/** What a workload has spent, open holds included. A period that no counter is kept of is absent. */
export interface SpentSums {
  readonly total?: NanoEuro;
  readonly month?: NanoEuro;
  readonly day?: NanoEuro;
}

/** Reads spend counters for people: no call waits for it, and it does not wait for calls. */
export interface SpentReader {
  /** By workload id. Rejects when the store cannot be reached. */
  read(organization: string, periods: Periods): Promise<ReadonlyMap<string, SpentSums>>;
  close(): void;
}

/** `keyPrefix`: as the counters have it; `gw:` unless given. */
export function openSpentReader(options: ConnectionOptions & { readonly keyPrefix?: string }): SpentReader {
  const { redis, send } = openClient(options, []);
  const { keyPrefix = KEY_PREFIX } = options;
  return {
    async read(organization, { day, month }) {
      const base = holdsKey(keyPrefix, organization).slice(0, -'holds'.length);
      const spent = new Map<string, SpentSums>();
      try {
        for (const [period, name] of [
          ['total', 'total'],
          ['month', month],
          ['day', day],
        ] as const) {
          const sums = (await send('hgetall', [`${base}spend:${name}`], 'utf8')) as Readonly<Record<string, string>>;
          for (const [field, sum] of Object.entries(sums)) {
            if (!field.startsWith('w:')) continue;
            const workload = field.slice(2);
            spent.set(workload, { ...spent.get(workload), [period]: BigInt(sum) });
          }
        }
      } catch (error) {
        throw new Error(`the limit counters cannot be reached: ${kindOf(error)}`);
      }
      return spent;
    },
    close: () => redis.disconnect(),
  };
}
