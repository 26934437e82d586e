import type { DriftSuspect } from '#/adapters/postgres/ledger.ts';
import type { SpendDifference } from '#/ports/evidence.ts';
import { describeSince } from '../audit/report.ts';
import type { OrganizationConfig } from '#/config/snapshot.ts';
import type { ReconciledCounter } from '#/meter/settlement/reconciliation.ts';
import { formatEuro, type NanoEuro } from '#/values/money.ts';
import type { NumberedEntry } from '#/ports/credit.ts';
import type { CountersView } from '#/ports/limit-counters.ts';

/** A hold that was open when the counters were read. */
interface HoldReport {
  readonly callId: string;
  readonly workload: string;
  readonly owner: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly amount: NanoEuro;
  /** The cost in its row, where that is durable: about to be settled. */
  readonly sealedAt?: NanoEuro;
}

/** Results for one organization. */
export interface OrganizationReport {
  readonly organization: string;
  readonly agrees: boolean;
  readonly repaired?: true;
  /** Counters compared. */
  readonly lines: number;
  readonly drifted: readonly (ReconciledCounter & { readonly suspects: readonly DriftSuspect[] })[];
  readonly holds: readonly HoldReport[];
  readonly sums: readonly SpendDifference[];
  readonly credit: readonly string[];
}

/** Longer than this no row takes that is about to be settled. */
const LATE_MS = 60_000;

const LOWER = 'a row may have been lost; if not, --repair --lower sets the counter from the rows';
const SUMS_FIRST = 'it would be set from running sums, and these do not match their rows';

/** Entries that do not follow from one another, and counters that know of other credit. */
export function creditFaults(
  { plan }: OrganizationConfig,
  { credit }: CountersView,
  entries: readonly NumberedEntry[],
): readonly string[] {
  const faults: string[] = [];
  let sum = 0n;
  for (const [index, entry] of entries.entries()) {
    sum += entry.amount;
    if (entry.number !== index + 1) faults.push(`entry ${entry.number} is where entry ${index + 1} belongs`);
    if (entry.sum !== sum)
      faults.push(`entry ${entry.number} states a total of ${entry.sum}, the entries add up to ${sum}`);
  }
  if (plan?.type !== 'prepaid' || !credit) return faults;
  const known = entries.find(({ number }) => number === credit.number)?.sum ?? (credit.number === 0 ? 0n : undefined);
  // Of an entry that was just added, the gateways tell the counters within seconds.
  if (credit.sum !== known)
    faults.push(`the counters use ${credit.sum} at entry ${credit.number}, which states ${known ?? 'nothing'}`);
  return faults;
}

/** The report in lines for people. */
export function* describeReconciliation(report: OrganizationReport): Generator<string> {
  const { organization, agrees, repaired, lines, drifted, holds, sums, credit } = report;
  const sealed = holds.filter(({ sealedAt }) => sealedAt !== undefined);
  const state = agrees ? (repaired ? 'repaired, agrees' : 'agrees') : 'DIFFERS';
  const counted = lines === 0 ? 'no counters yet: they are restored before the next call' : `${lines} counters`;
  yield `${organization}: ${state}: ${counted}, ${holds.length} open holds, ${sealed.length} of them sealed`;
  for (const { scope, period, counter, ledger, held, drift, suspects } of drifted) {
    const what = drift > 0n ? 'too much' : 'too little';
    yield `  ${period} of ${scope}: ${abs(drift)} nano-euro (${formatEuro(abs(drift))} EUR) ${what}: counter ${counter}, rows ${ledger}, held ${held}`;
    for (const suspect of suspects) yield `    call ${suspect.callId}: ${explain(suspect, drift)}`;
    if (suspects.length === 0) yield '    no single call of the last 40 days explains this';
    if (drift > 0n) yield `    not changed: ${sums.length > 0 ? SUMS_FIRST : LOWER}`;
  }
  for (const { callId, at, amount, sealedAt, owner } of holds) {
    if (Date.now() - at < LATE_MS) continue;
    const since = new Date(at).toISOString();
    if (sealedAt === undefined) yield `  call ${callId}: held at ${amount} since ${since} by ${owner}, no row yet`;
    else yield `  call ${callId}: sealed at ${sealedAt}, still held at ${amount} by ${owner}`;
  }
  for (const { workload, since, stored, counted: rows } of sums)
    yield `  sum of ${workload} ${describeSince(since)}: ${stored} nano-euro stored, but its rows add up to ${rows}`;
  for (const fault of credit) yield `  credit: ${fault}`;
}

function explain({ cost, held }: DriftSuspect, drift: NanoEuro): string {
  if (held - cost === drift) return `its hold of ${held} may still be counted; it cost ${cost}`;
  return drift < 0n ? `its cost of ${cost} may not be counted` : `its cost of ${cost} may be counted twice`;
}

function abs(amount: NanoEuro): NanoEuro {
  return amount < 0n ? -amount : amount;
}
