import { expect, test } from 'vitest';
import { beginSmall, inTurns } from './loop-turns.ts';

const ASKER = { organization: 'acme', workload: 'ada' };
const STEP_MS = 9;

/** Each step is a turn of its own, and the loop is held for all of it. */
function* steps(count: { turns: number }, isOver: () => boolean): Generator<undefined, void, undefined> {
  while (!isOver()) {
    count.turns += 1;
    for (const end = performance.now() + STEP_MS; performance.now() < end;);
    yield;
  }
}

/** The turns of large work that pass while a small call takes so many steps of its own. */
async function turnsBeside(hops: number): Promise<number> {
  const count = { turns: 0 };
  let over = false;
  const work = [
    inTurns(
      ASKER,
      steps(count, () => over),
    ),
    inTurns(
      ASKER,
      steps(count, () => over),
    ),
  ];
  for (let hop = 0; hop < hops; hop += 1) await new Promise((resolve) => setImmediate(resolve));
  const { turns } = count;
  over = true;
  await Promise.all(work);
  return turns;
}

test('a small call gets on between two turns of large work', async () => {
  const hops = 100;
  expect(await turnsBeside(hops)).toBeGreaterThan(hops * 0.9);
  using _small = beginSmall();
  expect(await turnsBeside(hops)).toBeLessThan(hops / 2);
});

test('large work goes on while small calls last', async () => {
  using _small = beginSmall();
  const count = { turns: 0 };
  await inTurns(
    ASKER,
    steps(count, () => count.turns === 5),
  );
  expect(count.turns).toBe(5);
});
