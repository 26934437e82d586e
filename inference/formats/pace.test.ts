import { expect, test } from 'vitest';
import { Deadline, RECOGNIZED, SAID } from './pace.ts';

const kindOf = (work: () => void): unknown => {
  try {
    work();
    return 'done';
  } catch (error) {
    return (error as { kind?: string }).kind;
  }
};

test('what will not be done in its time is refused before it is begun; without a time nothing is', () => {
  const soon = new Deadline(60_000);
  expect(kindOf(() => soon.refuseToRead({ said: 117, recognized: 0 }))).toBe('done');
  expect(kindOf(() => soon.refuseToRead({ said: 0, recognized: 117 }))).toBe('too_slow');
  expect(kindOf(() => soon.refuseToDraw(500))).toBe('too_slow');
  expect(kindOf(() => new Deadline(undefined).refuseToRead({ said: 0, recognized: 100_000 }))).toBe('done');
});

test('pages that took longer of late are expected to take longer', () => {
  const before = [SAID.ms, RECOGNIZED.ms];
  expect(kindOf(() => new Deadline(20_000).refuseToRead({ said: 50, recognized: 0 }))).toBe('done');
  for (let page = 0; page < 20; page++) SAID.note(2000);
  expect(kindOf(() => new Deadline(20_000).refuseToRead({ said: 50, recognized: 0 }))).toBe('too_slow');
  for (let page = 0; page < 40; page++) SAID.note(before[0] ?? 0);
});
