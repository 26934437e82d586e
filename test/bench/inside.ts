import { setTimeout as sleep } from 'node:timers/promises';
import type { Inspector } from './inspector.ts';
import { closedLoop, createClient, openStream, pacedLoop } from './load.ts';
import { measure, type Measure } from './measures.ts';
import { prompt } from './prompts.ts';
import { inTurns, refuseFailures, SETTLED_MS, type Side, type Sides } from './sides.ts';

/** Measures from inside the processes. Other work on the machine does not change it: bytes do not depend on time. */

/**
 * A young generation that holds all that a measurement allocates, so that nothing is collected meanwhile; and no optimizing
 * compiler, which leaves out allocations once it has seen enough calls: when, depends on the machine.
 */
export const COUNTING_FLAGS = [
  '--min-semi-space-size=128',
  '--max-semi-space-size=128',
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
];

const CONNECTIONS = 16;
/** Calls before anything is counted: each function allocates what it remembers of its callers. */
const WARM_UP = 200;

/** Bytes that a process has allocated since its last collection, on its heap and outside it. */
const ALLOCATED = `(() => {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
})()`;

export function inspectorOf({ inspector, name }: Side): Inspector {
  if (!inspector) throw new Error(`${name} has no inspector`);
  return inspector;
}

/** Bytes that a call of so many bytes allocates, less those that the process allocates in the same time without calls. */
export async function allocation(
  sides: Sides,
  sizes: Readonly<Record<string, number>>,
  rounds: number,
): Promise<Measure[]> {
  await using pair = await sides.another({ flags: COUNTING_FLAGS, inspect: true });
  const call = async (side: Side, body: string, calls: number): Promise<void> => {
    const { failures } = await closedLoop(sides.client, side, body, CONNECTIONS, calls);
    refuseFailures(side, failures);
  };
  const idle = new Map<Side, number>();
  for (const side of [pair.bare, pair.governed]) {
    await call(side, prompt(2048), WARM_UP);
    idle.set(side, await allocatedBy(side, async () => {}));
  }
  const measures: Measure[] = [];
  for (const [name, bytes] of Object.entries(sizes)) {
    const calls = bytes > 10_000 ? 50 : 100;
    const results = await inTurns(pair, rounds, async (side) => {
      const allocated = await allocatedBy(side, () => call(side, prompt(bytes), calls));
      return (allocated - (idle.get(side) ?? 0)) / calls;
    });
    measures.push(measure(`${name}: allocated`, 'bytes/call', results.bare, results.governed));
  }
  return measures;
}

async function allocatedBy(side: Side, work: () => Promise<void>): Promise<number> {
  const inspector = inspectorOf(side);
  await inspector.ask('HeapProfiler.collectGarbage');
  const before = await inspector.evaluate<number>(ALLOCATED);
  await work();
  await sleep(SETTLED_MS);
  return (await inspector.evaluate<number>(ALLOCATED)) - before;
}

/**
 * Bytes that are in use for each open stream, after everything else was collected. Each round opens so many more: of
 * streams that end, a gateway keeps something for as long as their usage may still come.
 */
export async function liveStreams(
  sides: Sides,
  sizes: Readonly<Record<string, number>>,
  streams: number,
  rounds: number,
): Promise<Measure[]> {
  const measures: Measure[] = [];
  for (const [name, bytes] of Object.entries(sizes)) {
    const body = prompt(bytes, { stream: true, model: 'upstream/stall' });
    const client = createClient();
    const pair = await sides.another({ inspect: true });
    try {
      const results = await inTurns(pair, rounds, async (side) => {
        const before = await inUse(inspectorOf(side));
        await Promise.all(Array.from({ length: streams }, () => openStream(client, side, body)));
        return ((await inUse(inspectorOf(side))) - before) / streams;
      });
      measures.push(measure(`${name}, open stream: in use`, 'bytes', results.bare, results.governed));
    } finally {
      await client.destroy();
      await pair[Symbol.asyncDispose]();
    }
  }
  return measures;
}

/** Bytes of a process after everything else was collected. */
export async function inUse(inspector: Inspector): Promise<number> {
  await sleep(SETTLED_MS);
  // The second finds what finalizers of the first have let go.
  await inspector.ask('HeapProfiler.collectGarbage');
  await inspector.ask('HeapProfiler.collectGarbage');
  return inspector.evaluate<number>(ALLOCATED);
}

/**
 * Notes how long each turn of the event loop keeps its thread busy, by the time of the thread alone: what else the
 * machine does is not in it. Collections of garbage are counted apart, by the clock.
 */
const WATCH_TURNS = `(() => {
  const { PerformanceObserver } = process.getBuiltinModule('node:perf_hooks');
  const watch = { turns: [], collections: [], done: false };
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) watch.collections.push(duration);
  });
  observer.observe({ entryTypes: ['gc'] });
  let last = process.threadCpuUsage();
  const turn = () => {
    const now = process.threadCpuUsage();
    watch.turns.push((now.user + now.system - last.user - last.system) / 1000);
    last = now;
    if (watch.done) observer.disconnect();
    else setImmediate(turn);
  };
  setImmediate(turn);
  globalThis.watchOfTurns = watch;
})()`;

const TELL_TURNS = `(() => {
  const watch = globalThis.watchOfTurns;
  watch.done = true;
  const turns = Float64Array.from(watch.turns).sort();
  const at = (share) => turns[Math.min(turns.length - 1, Math.floor(turns.length * share))];
  return {
    longest: at(1),
    p999: at(0.999),
    over2: turns.filter((ms) => ms > 2).length,
    turns: turns.length,
    collections: watch.collections.length,
    longestCollection: Math.max(0, ...watch.collections),
  };
})()`;

/** Turns of the event loop while calls came at a steady rate, milliseconds of the thread's time. */
export interface Turns {
  readonly longest: number;
  readonly p999: number;
  /** Turns of more than 2 ms. */
  readonly over2: number;
  readonly turns: number;
  readonly collections: number;
  /** By the clock. */
  readonly longestCollection: number;
}

/** Watches the turns of a side while something is done to it. */
export async function turnsDuring(side: Side, work: () => Promise<void>): Promise<Turns> {
  const inspector = inspectorOf(side);
  await inspector.evaluate(WATCH_TURNS);
  await work();
  return inspector.evaluate<Turns>(TELL_TURNS);
}

/** The longest turn of the event loop at half of what the gateway serves at most. */
export async function longestTurns(sides: Sides, rounds: number): Promise<Measure[]> {
  await using pair = await sides.another({ inspect: true });
  const body = prompt(2048);
  for (const side of [pair.bare, pair.governed]) await closedLoop(sides.client, side, body, 64, 10_000);
  const saturated = await closedLoop(sides.client, pair.governed, body, 64, 4000);
  const rate = saturated.requests / saturated.seconds / 2;
  const results = await inTurns(pair, rounds, (side) =>
    turnsDuring(side, async () => {
      const { failures } = await pacedLoop(sides.client, side, body, rate, 3);
      refuseFailures(side, failures);
    }),
  );
  const of = (tell: (turns: Turns) => number) => [results.bare.map(tell), results.governed.map(tell)] as const;
  return [
    measure('2 KiB at half of saturation: longest turn', 'ms of CPU', ...of(({ longest }) => longest), 'difference'),
    measure('2 KiB at half of saturation: turn p99.9', 'ms of CPU', ...of(({ p999 }) => p999), 'difference'),
    measure(
      '2 KiB at half of saturation: longest collection',
      'ms',
      ...of((one) => one.longestCollection),
      'difference',
      'free',
    ),
  ];
}
