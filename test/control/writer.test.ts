import { expect, test } from 'vitest';
import { createWriter } from '../../operators/cluster/writer.ts';
import { ClusterFault } from '../../src/ports/cluster.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('writes that hang keep no others waiting while there are workers, and there are no more workers than that', async () => {
  const writer = createWriter({ mayWrite: () => true, atOnce: 3 });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const put = (name: string): void =>
    writer.put(name, () => {
      begun.push(name);
      return new Promise((resolve) => ends.push(resolve));
    });
  put('a');
  put('b');
  expect(begun).toEqual(['a', 'b']);
  put('c');
  put('d');
  put('e');
  expect(begun).toEqual(['a', 'b', 'c']);
  // Those that run and those that wait: nobody is there without work.
  expect(writer.waiting).toBe(5);
  ends[0]!();
  await settled();
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  expect(writer.waiting).toBe(4);
  for (let index = 1; index < 5; index++) {
    ends[index]!();
    await settled();
  }
  expect(writer).toMatchObject({ waiting: 0, done: 5 });
});

test('a write that is put off as the server asks keeps no others waiting', async () => {
  const writer = createWriter({ mayWrite: () => true, atOnce: 2, backoffMs: [60_000, 60_000] });
  writer.put('busy', () => Promise.reject(new ClusterFault('busy', 429, 1000)));
  await settled();
  writer.put('next', async () => {});
  await settled();
  expect(writer.done).toBe(1);
});

test('what may not be written is dropped, and what comes later is still taken up', async () => {
  let leads = false;
  const writer = createWriter({ mayWrite: () => leads, atOnce: 1 });
  for (const name of ['a', 'b', 'c']) writer.put(name, async () => {});
  await settled();
  expect(writer).toMatchObject({ waiting: 0, done: 0 });
  leads = true;
  writer.put('d', async () => {});
  await settled();
  expect(writer).toMatchObject({ waiting: 0, done: 1 });
});
