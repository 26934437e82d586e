import { expect, test } from 'vitest';
import { FairPlaces, type Asker } from './fair-places.ts';

interface Waiting {
  readonly asker: Asker;
  readonly name: string;
}

function waiting(name: string, organization: string, workload = 'w'): Waiting {
  return { name, asker: { organization, workload } };
}

function names(places: FairPlaces<Waiting>, count: number): string {
  return Array.from({ length: count }, () => places.next(() => true)?.name ?? '-').join('');
}

test('organizations come in turn, then their workloads, then what these have', () => {
  const places = new FairPlaces<Waiting>();
  for (const name of 'abc') places.add(waiting(name, 'one', 'v'));
  places.add(waiting('d', 'one', 'w'));
  places.add(waiting('e', 'two'));
  expect(names(places, 12)).toBe('aedebedeceDe'.toLowerCase());
});

test('what may not take its place now is passed over and keeps its place', () => {
  const places = new FairPlaces<Waiting>();
  places.add(waiting('a', 'one'));
  places.add(waiting('b', 'two'));
  expect(places.next(({ name }) => name === 'b')?.name).toBe('b');
  expect(names(places, 3)).toBe('aba');
  expect(places.next(() => false)).toBeUndefined();
});

test('what is done is gone, with its organization', () => {
  const places = new FairPlaces<Waiting>();
  const one = waiting('a', 'one');
  places.add(one);
  places.add(waiting('b', 'two'));
  places.delete(one);
  expect(names(places, 2)).toBe('bb');
  expect([...places.of('one')]).toEqual([]);
  expect([...places].map(({ name }) => name)).toEqual(['b']);
});
