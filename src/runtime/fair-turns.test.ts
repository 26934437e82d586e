import { expect, test } from 'vitest';
import { FairTurns, type Asker } from './fair-turns.ts';

interface Waiting {
  readonly asker: Asker;
  readonly name: string;
}

function waiting(name: string, organization: string, workload = 'w'): Waiting {
  return { name, asker: { organization, workload } };
}

function names(turns: FairTurns<Waiting>, count: number): string {
  return Array.from({ length: count }, () => turns.next(() => true)?.name ?? '-').join('');
}

test('organizations take turns, then their workloads, then what these have', () => {
  const turns = new FairTurns<Waiting>();
  for (const name of 'abc') turns.add(waiting(name, 'one', 'v'));
  turns.add(waiting('d', 'one', 'w'));
  turns.add(waiting('e', 'two'));
  expect(names(turns, 12)).toBe('aedebedeceDe'.toLowerCase());
});

test('what may not take a turn is passed over and keeps its place', () => {
  const turns = new FairTurns<Waiting>();
  turns.add(waiting('a', 'one'));
  turns.add(waiting('b', 'two'));
  expect(turns.next(({ name }) => name === 'b')?.name).toBe('b');
  expect(names(turns, 3)).toBe('aba');
  expect(turns.next(() => false)).toBeUndefined();
});

test('what is done is gone, with its organization', () => {
  const turns = new FairTurns<Waiting>();
  const one = waiting('a', 'one');
  turns.add(one);
  turns.add(waiting('b', 'two'));
  turns.delete(one);
  expect(names(turns, 2)).toBe('bb');
  expect([...turns.of('one')]).toEqual([]);
  expect([...turns].map(({ name }) => name)).toEqual(['b']);
});
