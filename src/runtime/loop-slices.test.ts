import { expect, onTestFinished, test } from 'vitest';
import { beginSmall, endSmall, inSlices } from './loop-slices.ts';

const ASKER = { organization: 'acme', workload: 'ada' };
const STEP_MS = 9;

/** Each step is a turn of its own, and the loop is held for all of it. */
function* steps(count: { slices: number }, isOver: () => boolean): Generator<undefined, void, undefined> {
  while (!isOver()) {
    count.slices += 1;
    for (const end = performance.now() + STEP_MS; performance.now() < end;);
    yield;
  }
}

/** The slices of large work that pass while a small call takes so many steps of its own. */
async function turnsBeside(hops: number): Promise<number> {
  const count = { slices: 0 };
  let over = false;
  const work = [
    inSlices(
      ASKER,
      steps(count, () => over),
    ),
    inSlices(
      ASKER,
      steps(count, () => over),
    ),
  ];
  for (let hop = 0; hop < hops; hop += 1) await new Promise((resolve) => setImmediate(resolve));
  const { slices } = count;
  over = true;
  await Promise.all(work);
  return slices;
}

test('a small call gets on between two slices of large work', async () => {
  const hops = 100;
  expect(await turnsBeside(hops)).toBeGreaterThan(hops * 0.9);
  beginSmall();
  onTestFinished(endSmall);
  expect(await turnsBeside(hops)).toBeLessThan(hops / 2);
});

test('large work goes on while small calls last', async () => {
  beginSmall();
  onTestFinished(endSmall);
  const count = { slices: 0 };
  await inSlices(
    ASKER,
    steps(count, () => count.slices === 5),
  );
  expect(count.slices).toBe(5);
});
