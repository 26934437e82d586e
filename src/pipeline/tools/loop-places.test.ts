import { expect, test } from 'vitest';
import type { CallContext } from '#/call/call.ts';
import { LoopPlaces } from './loop-places.ts';

const caller = (key: string, workload: string) =>
  ({ key: { id: key, workload: { id: workload } } }) as unknown as Pick<CallContext, 'key'>;

test('a key and a workload have so many places, and get them back', () => {
  const places = new LoopPlaces();
  const taken = Array.from({ length: 32 }, () => places.enter(caller('one', 'bot')));
  expect(() => places.enter(caller('one', 'bot'))).toThrow('32 requests of this API key');
  taken.push(...Array.from({ length: 32 }, () => places.enter(caller('two', 'bot'))));
  expect(() => places.enter(caller('three', 'bot'))).toThrow('64 requests of this workload');
  taken.push(places.enter(caller('four', 'other')));
  taken[0]![Symbol.dispose]();
  taken[0]![Symbol.dispose]();
  taken.push(places.enter(caller('three', 'bot')));
  expect(() => places.enter(caller('three', 'bot'))).toThrow('64 requests of this workload');
  for (const one of taken) one[Symbol.dispose]();
  for (let count = 0; count < 32; count++) places.enter(caller('one', 'bot'));
});
