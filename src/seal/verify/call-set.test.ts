import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callIdAt } from '../../../test/contract/ledger-rows.ts';
import { CallSet } from './call-set.ts';

test('knows each id once, through every growth', () => {
  const calls = new CallSet();
  const ids = Array.from({ length: 20_000 }, (_, index) => callIdAt(1_760_000_000_000 + (index >> 4)));
  expect(ids.every((id) => calls.add(id))).toBe(true);
  expect(ids.some((id) => calls.add(id))).toBe(false);
});

test('takes ids that differ in one digit, or that look alike in part, for different ones', () => {
  const calls = new CallSet();
  const id = '019aa000-1234-7abc-8def-0123456789ab';
  expect(calls.add(id)).toBe(true);
  for (let at = 0; at < id.length; at++)
    if (id[at] !== '-')
      expect(calls.add(`${id.slice(0, at)}${id[at] === '0' ? '1' : '0'}${id.slice(at + 1)}`)).toBe(true);
  // The same words in another order, and the same sum of bits.
  for (const other of [
    '12347abc-019a-a000-8def-0123456789ab',
    '019aa000-8def-0123-1234-7abc456789ab',
    '00000000-0000-0000-0000-000000000000',
    '00000000-0000-0000-0000-000000000001',
  ])
    expect([calls.add(other), calls.add(other)]).toEqual([true, false]);
});

test('is as exact as a set, of any texts', () => {
  const few = fc.constantFrom(
    '',
    'a',
    'A',
    '019aa000-1234-7abc-8def-0123456789ab',
    '019AA000-1234-7abc-8def-0123456789ab',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(few, fc.uuid(), fc.string())), (ids) => {
      const [calls, known] = [new CallSet(), new Set<string>()];
      for (const id of ids) expect(calls.add(id)).toBe(!known.has(id) && known.add(id).has(id));
    }),
  );
});
