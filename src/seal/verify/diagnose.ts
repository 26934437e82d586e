import type { StrandHead } from '#/ports/checkpoints.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import { link } from '../chain.ts';
import { parseRowText, type RowFacts } from '../row-text.ts';
import { differences } from './row-columns.ts';
import type { FaultKind, StrandFault } from './report.ts';

/** Why a place holds no row that follows from the one before. */
export interface Diagnosis {
  readonly row: SealedRow;
  readonly kind: FaultKind;
  readonly detail: string;
  /** The link that the rows after it are held against. */
  readonly resume: string;
}

/**
 * Finds out what happened at a place whose row does not link to `previous`, from the rows after it: a successor was
 * sealed on top of the true link, and so tells whether text or link was changed, or whether the row was never there. A
 * checkpoint's head tells the same.
 */
export function diagnose(
  previous: string,
  rows: readonly SealedRow[],
  next: readonly SealedRow[] | undefined,
  head: StrandHead | undefined,
): Diagnosis {
  const follows = (before: string): boolean => next?.some((row) => link(before, row.row) === row.link) ?? false;
  for (const row of rows) {
    const facts = parseRowText(row.row);
    if (facts && facts.strand === row.strand && facts.sequence !== row.sequence) {
      const detail = `the row stored as number ${row.sequence} says that it is number ${facts.sequence}`;
      return { row, kind: 'swapped', detail, resume: row.link };
    }
    if (follows(row.link) || head?.link === row.link) {
      return {
        row,
        kind: 'edited',
        detail: `the text was changed after it was sealed${also(row, facts)}`,
        resume: row.link,
      };
    }
    const computed = link(previous, row.row);
    if (follows(computed) || head?.link === computed) {
      return {
        row,
        kind: 'edited',
        detail: 'the text is as it was sealed, but its link was changed',
        resume: computed,
      };
    }
    if (follows(previous)) {
      const detail = 'the row after it follows from the row before it: this one was inserted between them';
      return { row, kind: 'inserted', detail, resume: previous };
    }
  }
  const [row] = rows as readonly [SealedRow];
  return { row, kind: 'unknown', detail: unknownDetail(row, next !== undefined), resume: row.link };
}

/** Notes that the row which belongs where the fault is was found further on. */
export function movedTo(fault: { -readonly [M in keyof StrandFault]: StrandFault[M] }, row: SealedRow): void {
  const number = fault.missing?.from ?? fault.sequence;
  if (fault.kind === 'removed' && fault.missing?.from !== fault.missing?.to) return;
  if (fault.kind !== 'removed' && fault.kind !== 'swapped') return;
  if (fault.kind === 'removed') fault.callId = row.callId;
  fault.kind = 'swapped';
  fault.detail = `${fault.detail}; row ${number} is stored as number ${row.sequence} (call ${row.callId})`;
}

function also(row: SealedRow, facts: RowFacts | undefined): string {
  if (!facts) return ', and is no longer an audit row';
  const changed = differences(row, facts);
  return changed === '' ? ', together with the columns that repeat it' : `; columns that differ from it: ${changed}`;
}

function unknownDetail(row: SealedRow, hasNext: boolean): string {
  const facts = parseRowText(row.row);
  const changed = facts && differences(row, facts);
  const columns = changed ? `; columns that differ from its text: ${changed}` : '';
  return hasNext
    ? `neither its text nor its link matches the rows around it: it was inserted, or it and others were changed${columns}`
    : `it does not follow from the row before it: it was changed or inserted; as the last row, it cannot be checked further${columns}`;
}
