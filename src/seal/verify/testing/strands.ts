import { expect } from 'vitest';
import type { StrandHead } from '#/ports/checkpoints.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import { storedRows, StrandBuilder } from '../../../../test/contract/ledger-rows.ts';
import type { StrandFault, VerifyReport } from '../report.ts';
import { verify, type LedgerFacts } from '../ledger-check.ts';

export const STRAND = '019aa000-0000-7000-8000-000000000001';

export function strandOf(count: number, strand = STRAND): SealedRow[] {
  return new StrandBuilder(strand).sealMany(count);
}

/** As the ledger yields them: by strand, by number. */
export function sorted(rows: readonly SealedRow[]): SealedRow[] {
  return rows.toSorted((a, b) => (a.strand < b.strand ? -1 : a.strand > b.strand ? 1 : a.sequence - b.sequence));
}

/** However rows lie, and whether they are read as they lie or in order: the same is found. */
export async function verifyRows(rows: readonly SealedRow[], facts?: LedgerFacts): Promise<VerifyReport> {
  const report = await verify(storedRows(rows), facts);
  expect(await verify(storedRows(rows.toReversed()), facts)).toEqual(report);
  expect(await verify(storedRows(rows, false), facts)).toEqual(report);
  return report;
}

export async function faultOf(rows: readonly SealedRow[], heads?: readonly StrandHead[]): Promise<StrandFault> {
  const report = await verifyRows(rows, heads && { vouched: new Map([[STRAND, heads]]) });
  expect(report.intact).toBe(false);
  expect(report.faults).toHaveLength(1);
  return report.faults[0]!;
}

export function headOf({ strand, sequence, link: at }: SealedRow): StrandHead {
  return { strand, sequence, link: at };
}
