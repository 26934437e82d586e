/** What a workload has spent, as decimal amounts in euro. */
export interface Spent {
  readonly total?: string;
  readonly month?: string;
  readonly day?: string;
}

/** An organization and where its days begin. */
export interface Spender {
  readonly id: string;
  readonly timeZone: string;
}

/** Reads what the workloads of an organization have spent, by workload id. */
export type ReadSpending = (organization: Spender) => Promise<ReadonlyMap<string, Spent>>;

/** What workloads have spent, as it was read last. */
export interface Spending {
  /** Reads it again where the last time is long ago; `changed` is told of each workload, by name, whose sums moved. */
  refresh(organizations: readonly Spender[], changed: (name: string) => void): void;
  /** By workload id. */
  of(workload: string): Spent | undefined;
}

const EVERY_MS = 30_000;

/** `everyMs`: how old what is told may be. A store that cannot be read leaves what was read before. */
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
        if (JSON.stringify(sums) === JSON.stringify(next.get(workload))) continue;
        next.set(workload, sums);
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
