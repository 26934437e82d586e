import type { OrganizationSpec } from '#/config/resources/organization.ts';
import type { Document } from '../resources/accept.ts';

/** What a workload has spent, as decimal amounts in euro. A period of which nothing is known is absent. */
export interface Sums {
  readonly total?: string;
  readonly month?: string;
  readonly day?: string;
}

/** The same, with when it was found to be so, milliseconds since the epoch. */
export interface Spent extends Sums {
  readonly at: number;
  /** Of the organization: what its budgets are written in. */
  readonly currency: string;
}

/** An organization, where its days begin, and what its budgets are written in. */
export interface Spender {
  readonly id: string;
  readonly timeZone: string;
  readonly currency: string;
}

/** Reads what the workloads of an organization have spent, by workload id. */
export type ReadSpending = (organization: Spender) => Promise<ReadonlyMap<string, Sums>>;

/** What workloads have spent, as it was read last. */
export interface Spending {
  /** Reads again if the last time is long ago; calls `changed` with the name of each workload whose sums changed. */
  refresh(organizations: readonly Spender[], changed: (name: string) => void): void;
  /** By workload id. */
  of(workload: string): Spent | undefined;
}

/** The organizations among the accepted resources, by name of the resource. */
export function spendersOf(documents: ReadonlyMap<string, Pick<Document, 'kind' | 'spec'>>): readonly Spender[] {
  const spenders: Spender[] = [];
  for (const [name, { kind, spec }] of documents) {
    if (kind !== 'Organization') continue;
    const { timeZone = 'UTC', currency = 'EUR' } = spec as Partial<OrganizationSpec>;
    spenders.push({ id: name.slice('Organization '.length), timeZone, currency });
  }
  return spenders;
}

const EVERY_MS = 30_000;

/** `everyMs`: maximum age of the sums. If the store cannot be read, the last sums stay. */
export function createSpending(read: ReadSpending, everyMs = EVERY_MS): Spending {
  let known: ReadonlyMap<string, Spent> = new Map();
  let readAt = -Infinity;
  let reading = false;
  const readAll = async (organizations: readonly Spender[], changed: (name: string) => void): Promise<void> => {
    const next = new Map(known);
    // One after the other: this is for people, and the counters have calls to decide.
    for (const organization of organizations) {
      const spent = await read(organization).catch(() => undefined);
      for (const [workload, sums] of spent ?? []) {
        const { at: _, currency: __, ...before } = next.get(workload) ?? { at: 0, currency: '' };
        if (JSON.stringify(sums) === JSON.stringify(before)) continue;
        next.set(workload, { ...sums, at: Date.now(), currency: organization.currency });
        known = next;
        changed(`Workload ${workload}`);
      }
    }
  };
  return {
    refresh(organizations, changed) {
      if (reading || performance.now() - readAt < everyMs) return;
      reading = true;
      void readAll(organizations, changed).finally(() => {
        reading = false;
        readAt = performance.now();
      });
    },
    of: (workload) => known.get(workload),
  };
}
