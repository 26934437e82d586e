import { describe, expect, inject, it } from 'vitest';
import { judge, readBudgets, type Budgets } from './budgets.ts';
import { allocation, liveStreams } from './inside.ts';
import { measure } from './measures.ts';
import { openSides } from './sides.ts';

const budgets: Budgets = {
  'a call: CPU': { ratio: 2, unit: 'µs', bare: 100, governed: 200, stored: 'once' },
};

describe('a budget', () => {
  const judged = (governed: readonly number[]) =>
    judge([measure('a call: CPU', 'µs', [100, 100, 100, 100], governed)], budgets);

  it('is kept by a ratio that is at most a twentieth above it', () => {
    expect(judged([200, 205, 209, 209])).toEqual({ faults: [], gains: [] });
  });

  it('is broken by a ratio that is more above it, and the line names measure, stored and now', () => {
    expect(judged([220, 221, 222, 223]).faults).toEqual(['a call: CPU: governed to bare, stored 2, now 2.22']);
  });

  it('is not broken by moments in which the machine was slow for one side', () => {
    expect(judged([199, 199, 260, 280]).faults).toEqual([]);
  });

  it('is to be stored again where the ratio is far below', () => {
    expect(judged([150, 150, 150, 150]).gains).toEqual(['a call: CPU: governed to bare, stored 2, now 1.5']);
  });

  it('is missing for a measure that is not stored, and that is a fault', () => {
    expect(judge([measure('another', 'µs', [1], [1])], budgets).faults).toEqual([
      'another: no budget is stored, now 1; store it with BENCH_STORE=1',
    ]);
  });

  it('does not bind a measure for information', () => {
    expect(judge([measure('another', 'µs', [1], [1], 'ratio', 'free')], budgets)).toEqual({ faults: [], gains: [] });
  });

  it('cannot be kept by a ratio of NaN', () => {
    expect(judged([Number.NaN, Number.NaN, Number.NaN, Number.NaN]).faults).toHaveLength(1);
  });
});

/** The part of `make bench` that counts bytes: other work on the machine does not change it. */
describe('bytes', () => {
  it('allocated by a call, and in use for an open stream, keep their budgets', async () => {
    await using sides = await openSides(inject('redisUrl'), inject('databaseUrl'));
    const measures = [
      ...(await allocation(sides, { '2 KiB': 2048 }, 3)),
      ...(await liveStreams(sides, { '2 KiB': 2048 }, 100, 3)),
    ];
    expect(judge(measures, readBudgets()).faults).toEqual([]);
    // Half a minute on an idle machine; however long it takes, it counts the same.
  }, 600_000);
});
