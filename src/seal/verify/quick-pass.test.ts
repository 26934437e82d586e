import { describe, expect, test } from 'vitest';
import type { StoredRow } from '#/ports/evidence.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import { storedRow, StrandBuilder } from '../../../test/contract/ledger-rows.ts';
import { QuickPass } from './quick-pass.ts';

const STRAND = '019aa000-0000-7000-8000-000000000001';

function passOver(rows: readonly SealedRow[], facts: { readonly vouched?: boolean; readonly repeated?: string } = {}) {
  const last = rows.at(-1)!;
  const heads = facts.vouched ? [{ strand: STRAND, sequence: last.sequence, link: last.link }] : [];
  const pass = new QuickPass(
    (strand) => ({ strand, heads, withheld: [] }),
    (row) => row.sealed().callId === facts.repeated,
  );
  for (const row of rows) pass.take(shortLived(row));
  return pass.end();
}

/** A row whose memory is used again when it was handed over, as a database's is. */
function shortLived(row: SealedRow): StoredRow {
  const stored = storedRow(row);
  const own = storedRow(row);
  queueMicrotask(() => stored.text.fill(0));
  return { ...stored, kept: () => own };
}

describe('a strand is settled without being read again', () => {
  test.each<[string, (rows: SealedRow[]) => SealedRow[]]>([
    ['in order', (rows) => rows],
    ['from its end', (rows) => rows.toReversed()],
    ['a month after the next', (rows) => [...rows.slice(40), ...rows.slice(0, 40)]],
    [
      'with rows of calls that lasted long at the end',
      (rows) => [...rows.filter((row) => row.sequence % 7 !== 0), ...rows.filter((row) => row.sequence % 7 === 0)],
    ],
  ])('whose rows lie %s', (_, laid) => {
    const rows = new StrandBuilder(STRAND).sealMany(100);
    const { settled, doubtful } = passOver(laid(rows));
    expect(doubtful).toEqual([]);
    expect(settled).toEqual([{ strand: STRAND, rows: 100, superseded: 0, withheld: 0, afterCheckpoints: 100 }]);
  });
});

describe('a strand is to be read again', () => {
  const rows = new StrandBuilder(STRAND).sealMany(20);
  const row = rows[9]!;
  const changed = (change: Partial<SealedRow>): SealedRow[] => rows.with(9, { ...row, ...change });

  test.each<[string, readonly SealedRow[]]>([
    ['a column: call', changed({ callId: rows[3]!.callId })],
    ['a column: time', changed({ at: row.at + 1 })],
    ['a column: organization', changed({ organization: 'team/other' })],
    ['a column: workload', changed({ workload: 'team/other' })],
    ['a column: cost', changed({ cost: 1n })],
    ['a column: number', changed({ sequence: 21 })],
    ['its link', changed({ link: 'f'.repeat(64) })],
    ['its text', changed({ row: row.row.replace('served', 'failed') })],
  ])('when a row was changed: %s', (_, tampered) => {
    expect(passOver(tampered)).toEqual({ settled: [], doubtful: [STRAND] });
  });

  test('when a row is missing, there twice, or its call is somewhere else too', () => {
    const again = { settled: [], doubtful: [STRAND] };
    expect(passOver(rows.toSpliced(9, 1))).toEqual(again);
    expect(passOver(rows.toSpliced(9, 0, row))).toEqual(again);
    expect(passOver([...rows.slice(1), rows[19]!])).toEqual(again);
    expect(passOver(rows, { repeated: row.callId })).toEqual(again);
  });

  test('when it is not what a checkpoint says, or ends before it', () => {
    expect(passOver(rows, { vouched: true }).doubtful).toEqual([]);
    const forged = { ...rows[19]!, link: 'f'.repeat(64) };
    const pass = (heads: SealedRow, given: readonly SealedRow[]) => {
      const { sequence, link } = heads;
      const made = new QuickPass(
        (strand) => ({ strand, heads: [{ strand, sequence, link }], withheld: [] }),
        () => false,
      );
      for (const each of given) made.take(storedRow(each));
      return made.end().doubtful;
    };
    expect(pass(forged, rows)).toEqual([STRAND]);
    expect(pass(rows[19]!, rows.slice(0, 19))).toEqual([STRAND]);
  });

  test('when more rows come before their turn than are kept', () => {
    const many = new StrandBuilder(STRAND).sealMany(20_002);
    expect(passOver(many.toReversed()).doubtful).toEqual([STRAND]);
  });
});
