import { quantileOf } from './score.ts';
import type { Table } from './evaluation.ts';

/** How often each question is asked: of its times the one in the middle counts, since other work only ever adds. */
const ROUNDS = 3;
const WARM_UP = 5;

/**
 * Milliseconds of each question asked alone, one after the other, after a few that do not count: by the clock, and of the
 * processor's time of this process. One thread does the work, so that the latter is what it takes on a machine with
 * nothing else to do; bounds are of that. // spec 4.4.10
 */
export async function timed(what: string, asks: readonly (() => Promise<unknown>)[]): Promise<Table['rows'][number]> {
  for (const ask of asks.slice(0, WARM_UP)) await ask();
  const times = asks.map(() => ({ clock: [] as number[], processor: [] as number[] }));
  // All of them in each round, so that a busy moment does not meet every time of one.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, ask] of asks.entries()) {
      const used = process.cpuUsage();
      const began = performance.now();
      await ask();
      times[at]?.clock.push(performance.now() - began);
      const { user, system } = process.cpuUsage(used);
      times[at]?.processor.push((user + system) / 1000);
    }
  }
  const ms = (of: 'clock' | 'processor', share: number): number => {
    const medians = times.map((each) => quantileOf(each[of], 0.5));
    return Number(quantileOf(medians, share).toPrecision(3));
  };
  return {
    what,
    asked: asks.length,
    rounds: ROUNDS,
    p50: ms('clock', 0.5),
    p95: ms('clock', 0.95),
    most: ms('clock', 1),
    cpuP50: ms('processor', 0.5),
    cpuP95: ms('processor', 0.95),
    cpuMost: ms('processor', 1),
  };
}
