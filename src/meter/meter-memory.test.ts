import { expect, test } from 'vitest';
import { LikelyOutput } from './meter-memory.ts';

const ask = (input: number, mostOutput: number, limit?: number) => ({ input, mostOutput, limit });

test('what a model is likely to say is reserved: neither nothing nor all that it may', () => {
  const likely = new LikelyOutput();
  expect(likely.reserve('acme', ['p/m'], ask(100, 64_000))).toBe(1124);
  for (let call = 0; call < 100; call++) likely.note('acme', 'p/m', 200);
  expect(likely.reserve('acme', ['p/m'], ask(100, 64_000))).toBe(300);
  expect(likely.reserve('acme', ['p/m'], ask(100, 50))).toBe(150);
  likely.note('acme', 'p/m', 1200);
  expect(likely.reserve('acme', ['p/m'], ask(100, 64_000))).toBe(400);
});

test('of several models the wordiest counts, and of another organization nothing does', () => {
  const likely = new LikelyOutput();
  likely.note('acme', 'p/m', 10);
  likely.note('acme', 'p/n', 3000);
  expect(likely.reserve('acme', ['p/m', 'p/n'], ask(1, 64_000))).toBe(3001);
  expect(likely.reserve('other', ['p/m'], ask(1, 64_000))).toBe(1025);
});

test('what is only likely refuses no call for good', () => {
  const likely = new LikelyOutput();
  expect(likely.reserve('acme', ['p/m'], ask(100, 64_000, 500))).toBe(500);
  expect(likely.reserve('acme', ['p/m'], ask(600, 64_000, 500))).toBe(600);
});
