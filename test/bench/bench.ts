import { startPostgres } from '../harness/postgres.ts';
import { startRedis } from '../harness/redis.ts';
import { keepBudgets } from './budgets.ts';
import { buffered, cacheHits, CONNECTIONS, equalLoad, latency, streams, translatedCalls } from './call-costs.ts';
import { allocation, liveStreams, longestTurns } from './inside.ts';
import { closedLoop } from './load.ts';
import { toolCalls } from './mcp.ts';
import { report, type Measure } from './measures.ts';
import { moneyAgainstBudget } from './money.ts';
import { prompt } from './prompts.ts';
import { residentStreams } from './resident.ts';
import { openSides, type Sides } from './sides.ts';

/**
 * The governed benchmark: a bare proxy and Gatewarden with everything on (auth, inspection with reversible tags, Redis
 * limits and holds, rows sealed to PostgreSQL), measured in turns in one run against the same upstream on loopback.
 * Absolute times tell of the machine; the ratios tell of the gateway, and have budgets.
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const RATE = Number(process.env['BENCH_RATE'] ?? 1500);
/** Requests before anything is measured: V8 compiles hot functions. */
const WARM_UP = 10_000;
const SMALL = 2048;
const LARGE = 200 * 1024;

/**
 * The parts, in this order; those named in BENCH_ONLY (with commas between) where it is set. A part of one's own is
 * one line: it measures both sides and returns pairs.
 */
const PARTS: Readonly<Record<string, (sides: Sides) => Promise<readonly Measure[]>>> = {
  buffered: async (sides) => [
    ...(await buffered(sides, '2 KiB', { verbatim: prompt(SMALL) }, 4000, ROUNDS)),
    ...(await buffered(sides, '20 KiB', { verbatim: prompt(10 * SMALL) }, 2000, ROUNDS)),
  ],
  load: (sides) => equalLoad(sides, RATE, ROUNDS),
  cache: async (sides) => [...(await cacheHits(sides, 2, ROUNDS)), ...(await cacheHits(sides, 20, ROUNDS))],
  translated: (sides) => translatedCalls(sides, ROUNDS),
  latency: (sides) => latency(sides, ROUNDS),
  turns: (sides) => longestTurns(sides, ROUNDS),
  streams: (sides) => streams(sides, ROUNDS),
  memory: async (sides) => [
    await residentStreams(sides, '2 KiB', SMALL, 1000),
    await residentStreams(sides, '200 KiB', LARGE, 200),
    ...(await liveStreams(sides, { '2 KiB': SMALL, '200 KiB': LARGE }, 100, ROUNDS)),
  ],
  allocation: (sides) => allocation(sides, { '2 KiB': SMALL, '20 KiB': 10 * SMALL }, ROUNDS),
  money: (sides) => moneyAgainstBudget(sides, ROUNDS),
  mcp: (sides) => toolCalls(sides, ROUNDS),
};
const only = process.env['BENCH_ONLY']?.split(',') ?? Object.keys(PARTS);
const unknown = only.filter((part) => !(part in PARTS));
if (unknown.length > 0)
  throw new Error(`no such part: ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);

await using servers = new AsyncDisposableStack();
const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
servers.defer(() => redis.stop());
servers.defer(() => postgres.stop());
const sides = servers.use(await openSides(redis.url, postgres.url));
for (const side of [sides.bare, sides.governed]) {
  await closedLoop(sides.client, side, prompt(SMALL), CONNECTIONS, WARM_UP);
}
const measures: Measure[] = [];
for (const [part, measured] of Object.entries(PARTS)) {
  if (only.includes(part)) measures.push(...(await measured(sides)));
}
report(measures, { rounds: ROUNDS, connections: CONNECTIONS });
if (!keepBudgets(measures)) process.exitCode = 1;
