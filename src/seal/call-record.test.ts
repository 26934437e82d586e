import { expect, test } from 'vitest';
import type { HeldMoney } from '#/call/facts.ts';
import type { CallContext } from '#/call/call.ts';
import { NO_USAGE, type Usage } from '#/wire/answer/usage.ts';
import { CallRecord } from './call-record.ts';
import type { RowDraft } from './ledger-writer.ts';

const context = {
  id: 'call',
  startedAt: 0,
  surface: 'ocr',
  snapshot: { revision: 'r' },
  key: { id: 'k', workload: { id: 'w', organization: { id: 'o' }, policy: { dlp: { mode: 'allow_log' } } } },
  signal: AbortSignal.any([]),
} as unknown as CallContext;

function sealed(cost: HeldMoney['cost'], usage: Usage = NO_USAGE): RowDraft {
  const record = new CallRecord(context, 'ocr');
  record.merge({ hold: { open: { organization: 'o', amount: 70n }, cost, priceSource: () => 'book' } });
  const target = { provider: 'p', model: 'm', jurisdiction: 'EU', family: 'ocr' } as const;
  record.merge({ target, usage, units: { pages: 1 }, isServed: true });
  return record.draft();
}

test('lines of the route add up, and anything else is what was stated last', () => {
  const record = new CallRecord(context, 'ocr');
  record.merge({ route: ['one'], unscanned: ['image'] });
  record.merge({ route: ['two'], unscanned: [] });
  expect(record.draft().row).toMatchObject({ route: ['one', 'two'], dlp: { unscanned: [] }, step: 'admit' });
});

test('a usage that has no cost is sealed and settled at what was held', () => {
  const draft = sealed(() => {
    throw new RangeError('not a count');
  });
  expect(draft.row).toMatchObject({ outcome: 'served', cost_nano_eur: '70' });
  expect(draft.settlement).toMatchObject({ callId: 'call', cost: 70n });
});

test('any other is billed exactly', () => {
  expect(sealed(() => 3n).row).toMatchObject({ cost_nano_eur: '3', held_nano_eur: '70' });
});

test('searches that a usage tells are priced and sealed as units, not as tokens', () => {
  const { row } = sealed((_, __, units) => BigInt(100 * (units?.searches ?? 0) + (units?.pages ?? 0)), {
    ...NO_USAGE,
    input: 5,
    searches: 2,
  });
  expect(row).toMatchObject({ cost_nano_eur: '201', units: { pages: 1, searches: 2 } });
  expect(row.usage).toEqual({ ...NO_USAGE, input: 5 });
});
