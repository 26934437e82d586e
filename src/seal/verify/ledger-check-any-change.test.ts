import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { strandOf, sorted, verifyRows } from './testing/strands.ts';

describe('whatever the change', () => {
  const count = 12;
  const place = fc.nat(count - 1);
  const change = fc.oneof(
    fc.record({ kind: fc.constant('remove' as const), at: fc.nat(count - 2) }),
    fc.record({
      kind: fc.constant('text' as const),
      at: place,
      position: fc.nat(900),
      code: fc.integer({ min: 32, max: 126 }),
    }),
    fc.record({ kind: fc.constant('link' as const), at: place, position: fc.nat(63) }),
    fc.record({ kind: fc.constant('swap' as const), at: place, with: place }),
    fc.record({ kind: fc.constant('cost' as const), at: place, cost: fc.bigInt({ min: 0n, max: 2n ** 62n }) }),
  );

  test('the first row that is not as it was sealed is named', async () => {
    await fc.assert(
      fc.asyncProperty(change, async (made) => {
        const genuine = strandOf(count);
        const rows = [...genuine];
        const row = rows[made.at]!;
        if (made.kind === 'remove') rows.splice(made.at, 1);
        if (made.kind === 'text') {
          const text =
            row.row.slice(0, made.position) + String.fromCharCode(made.code) + row.row.slice(made.position + 1);
          rows[made.at] = { ...row, row: text };
        }
        if (made.kind === 'link') {
          const digit = row.link[made.position] === '0' ? '1' : '0';
          rows[made.at] = {
            ...row,
            link: row.link.slice(0, made.position) + digit + row.link.slice(made.position + 1),
          };
        }
        if (made.kind === 'swap') {
          rows[made.at] = { ...row, sequence: made.with + 1 };
          rows[made.with] = { ...genuine[made.with]!, sequence: made.at + 1 };
        }
        if (made.kind === 'cost') rows[made.at] = { ...row, cost: made.cost };
        const stored = sorted(rows);
        const changed = stored.findIndex(
          (each, index) => JSON.stringify(each, text) !== JSON.stringify(genuine[index], text),
        );
        const report = await verifyRows(stored);
        if (changed === -1) expect(report.intact).toBe(true);
        else expect(report.faults).toMatchObject([{ sequence: changed + 1 }]);
      }),
      { numRuns: 500 },
    );
  });
});

function text(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
