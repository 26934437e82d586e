import { expect, test } from 'vitest';
import { JobQueue } from './queue.ts';

const { signal } = new AbortController();

test('so many run, so many wait in the order they came, the rest is turned away', async () => {
  const queue = new JobQueue({ slots: 1, length: 2 });
  const order: string[] = [];
  const [first, second, third] = [queue.enter(), queue.enter(), queue.enter()];
  expect(() => queue.enter()).toThrow(expect.objectContaining({ kind: 'busy', retryAfterMs: 2000 }));
  await first.turn(signal);
  const turns = [
    third.turn(signal).then(() => order.push('third')),
    second.turn(signal).then(() => order.push('second')),
  ];
  expect([queue.running, queue.waiting]).toEqual([1, 2]);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await turns[0];
  expect(order).toEqual(['third']);
  third[Symbol.dispose]();
  await turns[1];
  second[Symbol.dispose]();
  expect([queue.running, queue.waiting]).toEqual([0, 0]);
});

test('who gives up while waiting is passed over', async () => {
  const queue = new JobQueue({ slots: 1, length: 2 });
  const [running, leaving, staying] = [queue.enter(), queue.enter(), queue.enter()];
  await running.turn(signal);
  const gone = new AbortController();
  const left = leaving.turn(gone.signal);
  const stays = staying.turn(signal);
  gone.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  leaving[Symbol.dispose]();
  running[Symbol.dispose]();
  await stays;
  expect([queue.running, queue.waiting]).toEqual([1, 0]);
  staying[Symbol.dispose]();
  expect(queue.running).toBe(0);
});
