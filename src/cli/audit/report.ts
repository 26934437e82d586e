import type { SpendDifference } from '#/ports/evidence.ts';
import type { CheckpointReport } from '#/seal/verify/checkpoint-check.ts';
import type { CreditReport } from '#/seal/verify/credit-check.ts';
import type { StrandFault, VerifyReport } from '#/seal/verify/report.ts';

/** Results of verifying a ledger or an export. */
export interface Findings {
  readonly rows: VerifyReport;
  readonly checkpoints: CheckpointReport;
  readonly sums: readonly SpendDifference[];
  /** Of a ledger. */
  readonly credit?: CreditReport;
  /** The fault of an export file. */
  readonly file?: { readonly line: number; readonly detail: string } | undefined;
}

/** Whether nothing was found. */
export function isIntact({ rows, checkpoints, sums, credit, file }: Findings): boolean {
  return rows.intact && checkpoints.intact && sums.length === 0 && credit?.intact !== false && file === undefined;
}

/** The report in lines, for people. */
export function* describe({ rows, checkpoints, sums, credit, file }: Findings): Generator<string> {
  const size = `${count(rows.rows, 'row')} in ${count(rows.strands, 'strand')}`;
  const broken = [
    ...(file ? ['the file changed'] : []),
    ...(rows.intact ? [] : [`${count(rows.faulty, 'strand')} changed`]),
    ...(checkpoints.intact ? [] : ['checkpoints changed']),
    ...(sums.length === 0 ? [] : ['sums changed']),
    ...(credit?.intact === false ? ['credit entries changed'] : []),
  ];
  yield broken.length === 0 ? `intact: ${size}, every link recomputed` : `BROKEN: ${size}, ${broken.join(', ')}`;
  if (file) yield `line ${file.line} of the file: ${file.detail}`;
  for (const fault of rows.faults) yield* describeFault(fault);
  const more = rows.faulty - rows.faults.length;
  if (more > 0) yield `and ${count(more, 'more strand')}`;
  yield* describeCheckpoints(rows, checkpoints);
  for (const { organization, workload, since, stored, counted } of sums) {
    yield `sum of ${workload} of ${organization} ${describeSince(since)}: ${stored} nano-euro stored, but its rows add up to ${counted}`;
  }
  if (credit) yield* describeCredit(credit);
  if (rows.superseded > 0) yield `${count(rows.superseded, 'row')} of calls sealed twice, counted once`;
}

function* describeCredit({
  entries,
  organizations,
  adopted,
  afterCheckpoints,
  faults,
}: CreditReport): Generator<string> {
  for (const { organization, number, kind, detail } of faults)
    yield `credit entry ${number} of ${organization}: ${kind}\n  ${detail}`;
  if (entries === 0) return;
  yield `${entries} credit entries of ${count(organizations, 'organization')}, ${afterCheckpoints} of them after the last checkpoint that covers theirs`;
  if (adopted > 0)
    yield `${adopted} of these were entered before entries were linked: only their state since then is verified`;
}

/** Which stretch of time a sum is of. */
export function describeSince(since: string | null): string {
  return since === null ? 'for the time whose rows retention dropped' : `from ${since} on`;
}

function* describeFault({ strand, sequence, callId, kind, detail, missing, after }: StrandFault): Generator<string> {
  const range = missing && missing.from !== missing.to ? `rows ${missing.from} to ${missing.to}` : `row ${sequence}`;
  const call = callId === undefined ? '' : missing ? `, before call ${callId}` : `, call ${callId}`;
  yield `strand ${strand}, ${range}${call}: ${kind}`;
  yield `  ${detail}`;
  if (after.rows === 0) return;
  const linked =
    after.unlinked === 0
      ? 'each is linked to the row stored before it'
      : `${after.unlinked} of them are not linked to the row stored before them`;
  yield `  ${count(after.rows, 'row')} after it in this strand: ${linked}`;
}

function* describeCheckpoints(
  rows: VerifyReport,
  { count: made, last, fault, signaturesChecked, dropped }: CheckpointReport,
): Generator<string> {
  if (fault) yield `checkpoint ${fault.number}: ${fault.kind}\n  ${fault.detail}`;
  if (!last) {
    yield 'no checkpoints: a truncated end or a resealed strand would go unnoticed';
    return;
  }
  const signatures = signaturesChecked ? 'signatures checked' : 'signatures not checked (give --public-key)';
  yield `${count(made, 'checkpoint')}, ${signatures}; number ${last.number} of ${timeOf(last.at)} has the hash ${last.hash}`;
  if (rows.withheld > 0) yield `${count(rows.withheld, 'row')} kept as hashes only`;
  if (dropped) {
    const { before, number, rows: gone, strands } = dropped;
    yield `calls before ${before} were dropped by retention, as checkpoint ${number} says: ${count(gone, 'row')} of ${count(strands, 'strand')} shown`;
  }
  if (rows.afterCheckpoints > 0)
    yield `${count(rows.afterCheckpoints, 'row')} came after the last checkpoint of their strand`;
}

function timeOf(at: number): string {
  return Number.isNaN(at) ? 'an unknown time' : new Date(at).toISOString();
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
