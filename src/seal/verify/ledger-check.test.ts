import { describe, expect, test } from 'vitest';
import type { StoredRows } from '#/ports/evidence.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import {
  callIdAt,
  editText,
  storedRow,
  storedRows,
  StrandBuilder,
  stream,
} from '../../../test/contract/ledger-rows.ts';
import { genesis, link } from '../chain.ts';
import { verify } from './ledger-check.ts';
import { STRAND, strandOf, verifyRows, faultOf, headOf } from './testing/strands.ts';

/** Links rows anew from a place on, as somebody who can write to the table could. */
function relink(rows: SealedRow[], from: number): SealedRow[] {
  let before = from === 0 ? genesis(STRAND) : rows[from - 1]!.link;
  return rows.map((row, index) => {
    if (index < from) return row;
    before = link(before, row.row);
    return { ...row, link: before };
  });
}

describe('an intact ledger', () => {
  test('of several strands', async () => {
    const other = STRAND.replace(/1$/, '2');
    const rows = [...strandOf(50), ...strandOf(1, other)];
    const heads = new Map([[STRAND, [headOf(rows[9]!), headOf(rows[29]!)]]]);
    expect(await verifyRows(rows, { vouched: heads })).toEqual({
      intact: true,
      rows: 51,
      strands: 2,
      withheld: 0,
      superseded: 0,
      afterCheckpoints: 21,
      faulty: 0,
      faults: [],
    });
  });

  test('without rows', async () => {
    expect(await verifyRows([])).toMatchObject({ intact: true, rows: 0, strands: 0 });
  });

  test('whose rows have escapes, many categories and no usage', async () => {
    const strand = new StrandBuilder(STRAND);
    const rows = [strand.seal({ model: 'a "b" \\ \n ü 🦊 \ud800' }), strand.seal({ workload: 'ns/ö' })];
    expect(await verifyRows(rows)).toMatchObject({ intact: true, rows: 2 });
  });

  test('in which another strand had sealed a call already', async () => {
    const other = STRAND.replace(/1$/, '2');
    const first = strandOf(3);
    const late = new StrandBuilder(other).seal({ callId: first[1]!.callId });
    expect(await verifyRows([...first, { ...late, superseded: true as const }])).toMatchObject({
      intact: true,
      superseded: 1,
    });
  });
});

describe('one change is found and named', () => {
  test.each([
    ['callId', callIdAt(5), 'call_id'],
    ['organization', 'team/other', 'organization'],
    ['workload', 'team/other', 'workload'],
    ['cost', 0n, 'cost (stored 0, sealed 5000)'],
    ['at', Date.UTC(2026, 0, 1), 'at (stored 2026-01-01T00:00:00.000Z'],
    ['at', Date.UTC(2026, 10, 21, 9) + 5.25, 'at (stored 1'],
    ['at', Infinity, 'at (stored Infinity ms'],
  ])('a column: %s', async (column, value, detail) => {
    const rows = strandOf(9);
    rows[4] = { ...rows[4]!, [column]: value };
    const fault = await faultOf(rows);
    expect(fault).toMatchObject({ kind: 'edited', sequence: 5, after: { rows: 4, unlinked: 0 } });
    expect(fault.detail).toContain('columns differ');
    expect(fault.detail).toContain(detail);
  });

  test('the text', async () => {
    const rows = strandOf(9);
    rows[4] = { ...rows[4]!, row: editText(rows[4]!.row, { cost_nano_eur: '1' }) };
    const fault = await faultOf(rows);
    expect(fault).toMatchObject({
      kind: 'edited',
      sequence: 5,
      callId: rows[4].callId,
      after: { rows: 4, unlinked: 0 },
    });
    expect(fault.detail).toContain('text was changed');
    expect(fault.detail).toContain('cost (stored 5000, sealed 1)');
  });

  test('the text together with its columns', async () => {
    const rows = strandOf(9);
    rows[4] = { ...rows[4]!, cost: 1n, row: editText(rows[4]!.row, { cost_nano_eur: '1' }) };
    const fault = await faultOf(rows);
    expect(fault).toMatchObject({ kind: 'edited', sequence: 5, after: { rows: 4, unlinked: 0 } });
    expect(fault.detail).toContain('together with the columns');
  });

  test('the text of the last row: nothing tells what changed', async () => {
    const rows = strandOf(9);
    rows[8] = { ...rows[8]!, cost: 1n, row: editText(rows[8]!.row, { cost_nano_eur: '1' }) };
    expect(await faultOf(rows)).toMatchObject({ kind: 'unknown', sequence: 9, after: { rows: 0 } });
  });

  test('the text of the last row, which a checkpoint vouches for', async () => {
    const rows = strandOf(9);
    const heads = [headOf(rows[8]!)];
    rows[8] = { ...rows[8]!, cost: 1n, row: editText(rows[8]!.row, { cost_nano_eur: '1' }) };
    expect(await faultOf(rows, heads)).toMatchObject({ kind: 'edited', sequence: 9 });
  });

  test('a link', async () => {
    const rows = strandOf(9);
    rows[4] = { ...rows[4]!, link: 'f'.repeat(64) };
    const fault = await faultOf(rows);
    expect(fault).toMatchObject({ kind: 'edited', sequence: 5, after: { rows: 4, unlinked: 0 } });
    expect(fault.detail).toContain('link was changed');
  });

  test('text that is not JSON any more', async () => {
    const rows = strandOf(9);
    rows[4] = { ...rows[4]!, row: '{' };
    expect(await faultOf(rows)).toMatchObject({ kind: 'edited', sequence: 5 });
  });

  test.each([
    ['the first row', 0, 1],
    ['one row', 4, 1],
    ['several rows', 2, 5],
  ])('removed: %s', async (_, from, count) => {
    const rows = strandOf(9);
    const next = rows[from + count]!;
    rows.splice(from, count);
    expect(await faultOf(rows)).toMatchObject({
      kind: 'removed',
      sequence: from + 1,
      callId: next.callId,
      missing: { from: from + 1, to: from + count },
      after: { rows: 9 - from - count, unlinked: 0 },
    });
  });

  test('removed and numbered anew', async () => {
    const rows = strandOf(9);
    rows.splice(4, 1);
    const renumbered = rows.map((row, index) => ({ ...row, sequence: index + 1 }));
    expect(await faultOf(renumbered)).toMatchObject({
      kind: 'swapped',
      sequence: 5,
      detail: expect.stringContaining('number 6') as string,
    });
  });

  test('removed at the end', async () => {
    const rows = strandOf(9);
    const heads = [headOf(rows[3]!), headOf(rows[6]!)];
    expect(await verifyRows(rows.slice(0, 5))).toMatchObject({ intact: true });
    const fault = await faultOf(rows.slice(0, 5), heads);
    expect(fault).toMatchObject({ kind: 'removed', sequence: 6, missing: { from: 6, to: 7 }, callId: undefined });
  });

  test('a whole strand removed', async () => {
    const rows = strandOf(9);
    expect(await faultOf([], [headOf(rows[6]!)])).toMatchObject({ kind: 'removed', missing: { from: 1, to: 7 } });
  });

  test('inserted with a number that is taken', async () => {
    const rows = strandOf(9);
    const forged = { ...new StrandBuilder(STRAND).sealMany(5)[4]!, link: 'e'.repeat(64) };
    for (const all of [
      [...rows, forged],
      [forged, ...rows],
    ]) {
      expect(await faultOf(all)).toMatchObject({
        kind: 'inserted',
        sequence: 5,
        callId: forged.callId,
        after: { rows: 4, unlinked: 0 },
      });
    }
  });

  test('inserted, with the rows after it moved up', async () => {
    const rows = strandOf(9);
    const forged = { ...new StrandBuilder(STRAND).sealMany(5)[4]!, link: 'e'.repeat(64) };
    const moved = [...rows.slice(0, 4), forged, ...rows.slice(4)].map((row, index) => ({
      ...row,
      sequence: index + 1,
    }));
    expect(await faultOf(moved)).toMatchObject({
      kind: 'inserted',
      sequence: 5,
      callId: forged.callId,
      after: { rows: 5, unlinked: 0 },
    });
  });

  test.each([0, -3])('inserted as number %i', async (sequence) => {
    const rows = strandOf(3);
    expect(await faultOf([{ ...rows[0]!, sequence }, ...rows])).toMatchObject({ kind: 'inserted', sequence });
  });

  test('inserted at the end', async () => {
    const rows = strandOf(9);
    const forged = { ...new StrandBuilder(STRAND).sealMany(10)[9]!, link: 'e'.repeat(64) };
    expect(await faultOf([...rows, forged])).toMatchObject({ kind: 'unknown', sequence: 10, callId: forged.callId });
  });

  test.each([
    [3, 5],
    [4, 5],
    [1, 9],
    [8, 9],
  ])('rows %i and %i swapped', async (a, b) => {
    const rows = strandOf(9);
    const swap = (sequence: number): number => (sequence === a ? b : sequence === b ? a : sequence);
    const swapped = rows.map((row) => ({ ...row, sequence: swap(row.sequence) }));
    const fault = await faultOf(swapped);
    expect(fault).toMatchObject({ kind: 'swapped', sequence: a, callId: rows[b - 1]!.callId });
    expect(fault.detail).toContain(`says that it is number ${b}`);
    expect(fault.detail).toContain(`row ${a} is stored as number ${b} (call ${rows[a - 1]!.callId})`);
  });

  test('a row moved to the end', async () => {
    const rows = strandOf(9);
    const moved = rows.map((row) => (row.sequence === 4 ? { ...row, sequence: 400 } : row));
    const fault = await faultOf(moved);
    expect(fault).toMatchObject({ kind: 'swapped', sequence: 4, callId: rows[3]!.callId });
    expect(fault.detail).toContain('row 4 is stored as number 400');
  });

  test('the same row twice', async () => {
    const rows = strandOf(9);
    expect(await faultOf([...rows, rows[4]!])).toMatchObject({
      kind: 'duplicate',
      sequence: 5,
      callId: rows[4]!.callId,
    });
  });

  test('a call that two strands have sealed and both count', async () => {
    const rows = strandOf(9);
    const other = STRAND.replace(/1$/, '2');
    const again = new StrandBuilder(other).seal({ callId: rows[4]!.callId });
    const report = await verifyRows([...rows, again]);
    expect(report.faults).toMatchObject([{ strand: other, kind: 'duplicate', sequence: 1 }]);
  });

  test.each([
    ['with a space', (text: string) => text.replace('{"at":', '{ "at":')],
    ['with members out of order', (text: string) => text.replace('"v":1,', '').replace('{"at"', '{"v":1,"at"')],
    ['with a member twice', (text: string) => text.replace('"v":1', '"v":1,"v":1')],
    ['with categories out of order', (text: string) => text.replace('"EMAIL":2,"IBAN":1', '"IBAN":1,"EMAIL":2')],
    ['with a number that is not in its shortest form', (text: string) => text.replace('"v":1', '"v":1.0')],
    ['with a needless escape', (text: string) => text.replace('served', '\\u0073erved')],
    ['that is no object', () => '7'],
    ['that lacks a member', (text: string) => text.replace(/,"workload":"[^"]*"/, '')],
  ])('text %s, sealed like that', async (_, change) => {
    const rows = strandOf(9);
    rows[4] = { ...rows[4]!, row: change(rows[4]!.row) };
    expect(await faultOf(relink(rows, 4))).toMatchObject({ kind: 'malformed', sequence: 5, after: { unlinked: 0 } });
  });

  test('a strand sealed anew from some row on', async () => {
    const rows = strandOf(9);
    const heads = [2, 5, 8].map((index) => headOf(rows[index]!));
    rows[4] = { ...rows[4]!, cost: 1n, row: editText(rows[4]!.row, { cost_nano_eur: '1' }) };
    const rewritten = relink(rows, 4);
    expect(await verifyRows(rewritten)).toMatchObject({ intact: true });
    const fault = await faultOf(rewritten, heads);
    expect(fault).toMatchObject({ kind: 'rewritten', sequence: 6 });
    expect(fault.detail).toContain('one of the rows 4 to 6');
  });

  test('two rows on end: the first is named, the second counted', async () => {
    const rows = strandOf(9);
    for (const index of [3, 4, 7]) rows[index] = { ...rows[index]!, row: editText(rows[index]!.row, { status: 500 }) };
    expect(await faultOf(rows)).toMatchObject({ sequence: 4, after: { rows: 5, unlinked: 2 } });
  });

  test('both text and link of a row', async () => {
    const rows = strandOf(9);
    rows[3] = { ...rows[3]!, row: editText(rows[3]!.row, { status: 500 }), link: 'a'.repeat(64) };
    expect(await faultOf(rows)).toMatchObject({ kind: 'unknown', sequence: 4, after: { rows: 5, unlinked: 1 } });
  });
});

describe('rows that do not come in order when they are read in order', () => {
  const inOrder = (rows: readonly SealedRow[]): StoredRows => {
    return { ...storedRows(rows, false), inOrder: () => stream([rows.map(storedRow)]) };
  };

  test('are refused: a strand in two parts', async () => {
    const other = STRAND.replace(/1$/, '2');
    const rows = strandOf(2);
    await expect(verify(inOrder([rows[0]!, ...strandOf(1, other), rows[1]!]))).rejects.toThrow(RangeError);
  });

  test('are refused: numbers that go down', async () => {
    await expect(verify(inOrder(strandOf(3).toReversed()))).rejects.toThrow(RangeError);
  });
});

test('calls are told apart by the ten thousand, and a single repeated one is found', async () => {
  const strand = new StrandBuilder(STRAND);
  const rows = strand.sealMany(30_000, (index) => ({ at: Date.UTC(2026, 10, 21) + (index >> 6) }));
  expect(await verifyRows(rows)).toMatchObject({ intact: true, rows: 30_000 });
  const repeated = strand.seal({ callId: rows[11_337]!.callId });
  expect(await faultOf([...rows, repeated])).toMatchObject({ kind: 'duplicate', sequence: 30_001 });
});
