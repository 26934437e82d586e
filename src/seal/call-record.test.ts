import { expect, test } from 'vitest';
import type { Hold } from '#/meter/meter.ts';
import type { Opening } from '#/call/call.ts';
import { NO_USAGE, type Usage } from '#/wire/answer/usage.ts';
import { Entry } from './call-record.ts';
import type { RowDraft } from './ledger-writer.ts';

const opening = {
  id: 'call',
  startedAt: 0,
  surface: 'ocr',
  snapshot: { revision: 'r' },
  key: { id: 'k', workload: { id: 'w', organization: { id: 'o' }, policy: { dlp: { mode: 'allow_log' } } } },
  signal: AbortSignal.any([]),
} as unknown as Opening;

async function sealed(cost: Hold['cost'], usage: Usage = NO_USAGE): Promise<RowDraft> {
  const drafts: RowDraft[] = [];
  const entry = new Entry(opening, 'ocr', (draft) => drafts.push(draft));
  entry.target = { provider: 'p', model: 'm', jurisdiction: 'EU', family: 'ocr' };
  entry.hold = { open: { organization: 'o', amount: 70n }, cost, priceSource: () => 'book' } as unknown as Hold;
  entry.usage = usage;
  entry.units = { pages: 1 };
  entry.served();
  entry[Symbol.dispose]();
  return drafts[0]!;
}

test('a usage that has no cost is sealed and settled at what was held', async () => {
  const draft = await sealed(() => {
    throw new RangeError('not a count');
  });
  expect(draft.row).toMatchObject({ outcome: 'served', cost_nano_eur: '70' });
  expect(draft.settlement).toMatchObject({ callId: 'call', cost: 70n });
});

test('any other is billed exactly', async () => {
  expect((await sealed(() => 3n)).row).toMatchObject({ cost_nano_eur: '3', held_nano_eur: '70' });
});

test('searches that a usage tells are priced and sealed as units, not as tokens', async () => {
  const { row } = await sealed((_, __, units) => BigInt(100 * (units?.searches ?? 0) + (units?.pages ?? 0)), {
    ...NO_USAGE,
    input: 5,
    searches: 2,
  });
  expect(row).toMatchObject({ cost_nano_eur: '201', units: { pages: 1, searches: 2 } });
  expect(row.usage).toEqual({ ...NO_USAGE, input: 5 });
});
