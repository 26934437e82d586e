import { expect, test } from 'vitest';
import { OpenCalls } from './open-calls.ts';

test('a call that ends twice does not end another that has its place', async () => {
  const calls = new OpenCalls();
  const first = calls.add(new AbortController());
  first[Symbol.dispose]();
  const theirs = new AbortController();
  calls.add(theirs);
  first[Symbol.dispose]();
  calls.add(new AbortController());
  expect(calls.size).toBe(2);
  const ended = new Promise((resolve) => theirs.signal.addEventListener('abort', resolve));
  void calls.finish(0);
  await ended;
});
