import { setTimeout as sleep } from 'node:timers/promises';
import { newKey, startGateway } from '../harness/gateway.ts';
import { startPostgres } from '../harness/postgres.ts';
import { startRedis } from '../harness/redis.ts';
import { closedLoop, createClient, openStream, pacedLoop, quantile, type Target } from './load.ts';
import { cpuMicroseconds, residentBytes, startProgram } from './processes.ts';
import { measure, report, type Measure } from './measures.ts';
import { measureMoney, type MoneyCost } from './money.ts';
import { governedResources } from './resources.ts';

/**
 * The governed benchmark: a bare proxy and Gatewarden with everything on (auth, inspection with reversible tags, Redis
 * limits and holds, rows sealed to PostgreSQL), measured in turns in one run against the same upstream on loopback.
 * Absolute times tell of the machine; the ratios tell of the gateway.
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const CONNECTIONS = 64;
/** Requests before anything is measured: the engine compiles what is called often. */
const WARM_UP = 10_000;
const STREAM_CONNECTIONS = 16;
const CHUNKS = 200;
const HELD_STREAMS = 1000;

interface Side extends Target {
  readonly pid: number;
}

const sentence = 'We look at the numbers of the third quarter and decide together what the next step should be. ';
const personal = 'Write to ada.lovelace@example.com or call +49 30 901820 about it. ';

function prompt(bytes: number, stream: boolean, model = 'upstream/static'): string {
  const text = personal + sentence.repeat(Math.ceil(bytes / sentence.length));
  const messages = [
    { role: 'system', content: 'You are a careful assistant.' },
    { role: 'user', content: text.slice(0, bytes) },
  ];
  return JSON.stringify({ model, messages, max_tokens: 256, ...(stream && { stream: true }) });
}

await using servers = new AsyncDisposableStack();
const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
servers.defer(() => redis.stop());
servers.defer(() => postgres.stop());
const upstream = await startProgram('./upstream.ts');
const key = newKey();
/** Of a workload whose answers are cached. */
const cachedKey = newKey();
const startBare = () => startProgram('./bare.ts', `http://127.0.0.1:${upstream.port}`);
const startGoverned = async () =>
  startGateway({
    resources: governedResources(`http://127.0.0.1:${upstream.port}`, key, cachedKey),
    redisUrl: redis.url,
    databaseUrl: await postgres.createDatabase(),
    // Kept code takes heap, which a gateway in service does not have.
    env: { NODE_DISABLE_COMPILE_CACHE: '1' },
  });
const bareProgram = await startBare();
const gateway = await startGoverned();
servers.defer(async () => void (await gateway.stop()));
const bare: Side = { origin: `http://127.0.0.1:${bareProgram.port}`, key, pid: bareProgram.pid };
const governed: Side = { origin: gateway.url, key, pid: gateway.pid };
const cached: Side = { ...governed, key: cachedKey };
const client = createClient();

/** What is measured, in this order; those named in BENCH_ONLY (with commas between) where it is set. */
const PARTS: Readonly<Record<string, () => Promise<readonly Measure[]>>> = {
  buffered: async () => [
    ...(await buffered('2 KiB buffered', { verbatim: prompt(2048, false) }, 4000)),
    ...(await buffered('20 KiB buffered', { verbatim: prompt(20_480, false) }, 2000)),
  ],
  cache: async () => [...(await hits(2)), ...(await hits(20))],
  translated: () =>
    buffered(
      '2 KiB buffered, chat to messages',
      { verbatim: prompt(2048, false), translated: prompt(2048, false, 'translated/static') },
      4000,
    ),
  latency: () => latency('2 KiB at half of saturation', prompt(2048, false)),
  streams: async () => [
    ...(await streamed(`${CHUNKS} chunks streamed`, { verbatim: prompt(2048, true) })),
    ...(await streamed(`${CHUNKS} chunks streamed, messages to chat`, {
      verbatim: prompt(2048, true),
      translated: prompt(2048, true, 'translated/static'),
    })),
  ],
  memory: async () => [await memory()],
  money,
};
const only = process.env['BENCH_ONLY']?.split(',') ?? Object.keys(PARTS);
const unknown = only.filter((part) => !(part in PARTS));
if (unknown.length > 0)
  throw new Error(`no such part: ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);
for (const side of [bare, governed]) await closedLoop(client, side, prompt(2048, false), CONNECTIONS, WARM_UP);
const measures: Measure[] = [];
for (const [part, measured] of Object.entries(PARTS)) if (only.includes(part)) measures.push(...(await measured()));
report(measures, { rounds: ROUNDS, connections: CONNECTIONS });
bareProgram.stop();
upstream.stop();
await client.destroy();

/** Runs both sides in turns and takes medians, so that a machine whose speed drifts is the same to both. */
async function inTurns<T>(run: (side: Side) => Promise<T>): Promise<{ bare: T[]; governed: T[] }> {
  await run(bare);
  await run(governed);
  const results = { bare: [] as T[], governed: [] as T[] };
  for (let turn = 0; turn < ROUNDS; turn++) {
    results.bare.push(await run(bare));
    results.governed.push(await run(governed));
  }
  return results;
}

/** The question: the bare proxy knows one mode only, the gateway is asked for the translated one if there is one. */
interface Asked {
  readonly verbatim: string;
  readonly translated?: string;
}

function askedOf(side: Side, { verbatim, translated: other }: Asked): string {
  return side === governed ? (other ?? verbatim) : verbatim;
}

async function buffered(name: string, asked: Asked, requests: number): Promise<Measure[]> {
  const { bare: b, governed: g } = await inTurns(async (side) => {
    const before = cpuMicroseconds(side.pid);
    const result = await closedLoop(client, side, askedOf(side, asked), CONNECTIONS, requests);
    await sleep(100);
    refuseFailures(name, result.failures);
    return { cpu: (cpuMicroseconds(side.pid) - before) / requests, rate: requests / result.seconds };
  });
  return [
    measure(
      `${name}: CPU`,
      'µs/request',
      b.map((x) => x.cpu),
      g.map((x) => x.cpu),
      'ratio',
    ),
    measure(
      `${name}: throughput`,
      'requests/s',
      b.map((x) => x.rate),
      g.map((x) => x.rate),
      'ratio',
    ),
  ];
}

/**
 * What a call answered from the cache costs. `bare` is what it is held against: the same request where nothing is cached
 * or retained; and one of the same workload that the provider has to answer, since no two of them are alike.
 */
async function hits(kilobytes: number): Promise<Measure[]> {
  const name = `${kilobytes} KiB buffered, from the cache`;
  const requests = kilobytes === 2 ? 4000 : 2000;
  const again = prompt(kilobytes * 1024, false);
  let asked = 0;
  const anew = (): string => again.replace('"max_tokens"', `"seed":${asked++},"max_tokens"`);
  const cpuOf = async (side: Side, body: string | (() => string)): Promise<number> => {
    const before = cpuMicroseconds(side.pid);
    const result = await closedLoop(client, side, body, CONNECTIONS, requests);
    await sleep(300);
    refuseFailures(name, result.failures);
    return (cpuMicroseconds(side.pid) - before) / requests;
  };
  const found: number[] = [];
  const served: number[] = [];
  const missed: number[] = [];
  await cpuOf(cached, again);
  await cpuOf(cached, anew);
  for (let turn = 0; turn < ROUNDS; turn++) {
    served.push(await cpuOf(governed, again));
    found.push(await cpuOf(cached, again));
    missed.push(await cpuOf(cached, anew));
  }
  return [
    measure(`${name} against served: CPU`, 'µs/request', served, found, 'ratio'),
    measure(`${name} against a miss: CPU`, 'µs/request', missed, found, 'ratio'),
  ];
}

async function latency(name: string, body: string): Promise<Measure[]> {
  const saturated = await closedLoop(client, governed, body, CONNECTIONS, 3000);
  const rate = saturated.requests / saturated.seconds / 2;
  const { bare: b, governed: g } = await inTurns(async (side) => {
    const result = await pacedLoop(client, side, body, rate, 3);
    refuseFailures(name, result.failures);
    return { p50: quantile(result.latencies, 0.5), p99: quantile(result.latencies, 0.99) };
  });
  return [
    measure(
      `${name}: p50`,
      'ms',
      b.map((x) => x.p50),
      g.map((x) => x.p50),
      'difference',
    ),
    measure(
      `${name}: p99`,
      'ms',
      b.map((x) => x.p99),
      g.map((x) => x.p99),
      'difference',
    ),
  ];
}

async function streamed(name: string, asked: Asked): Promise<Measure[]> {
  const streams = 160;
  const { bare: b, governed: g } = await inTurns(async (side) => {
    const before = cpuMicroseconds(side.pid);
    const result = await closedLoop(client, side, askedOf(side, asked), STREAM_CONNECTIONS, streams);
    await sleep(100);
    refuseFailures(name, result.failures);
    return { cpu: (cpuMicroseconds(side.pid) - before) / streams / CHUNKS, rate: (streams * CHUNKS) / result.seconds };
  });
  return [
    measure(
      `${name}: CPU`,
      'µs/chunk',
      b.map((x) => x.cpu),
      g.map((x) => x.cpu),
      'ratio',
    ),
    measure(
      `${name}: throughput`,
      'chunks/s',
      b.map((x) => x.rate),
      g.map((x) => x.rate),
      'ratio',
    ),
  ];
}

/** What an open stream holds: growth of the resident memory of a fresh, warmed process over many that stay open. */
async function memory(): Promise<Measure> {
  const hold = async (side: Side): Promise<number> => {
    await closedLoop(client, side, prompt(2048, true), STREAM_CONNECTIONS, 200);
    await sleep(2000);
    const before = residentBytes(side.pid);
    const own = createClient();
    await Promise.all(
      Array.from({ length: HELD_STREAMS }, () => openStream(own, side, prompt(2048, true, 'upstream/stall'))),
    );
    await sleep(2000);
    const bytes = (residentBytes(side.pid) - before) / HELD_STREAMS;
    await own.destroy();
    return bytes;
  };
  const program = await startBare();
  const bareBytes = await hold({ origin: `http://127.0.0.1:${program.port}`, key, pid: program.pid });
  program.stop();
  const other = await startGoverned();
  const governedBytes = await hold({ origin: other.url, key, pid: other.pid });
  await other.kill();
  return measure('open stream: memory', 'bytes', [bareBytes], [governedBytes], 'ratio');
}

/**
 * What metering and sealing cost a call, in turns with the bare proxy. In its place stands their budget: of each step the
 * microseconds it was given, on a machine that took the middle of 86 to 150 for a bare call, as so many parts of what a
 * bare call takes here and now.
 */
async function money(): Promise<Measure[]> {
  const budget = { hold: 25, seal: 18, settle: 5 };
  const bareCall = 118;
  const costs: MoneyCost[] = [];
  const bareCosts: number[] = [];
  for (let turn = 0; turn < ROUNDS; turn++) {
    const before = cpuMicroseconds(bare.pid);
    const result = await closedLoop(client, bare, prompt(2048, false), CONNECTIONS, 4000);
    refuseFailures('metering and sealing', result.failures);
    bareCosts.push((cpuMicroseconds(bare.pid) - before) / result.requests);
    costs.push(await measureMoney(redis.url, await postgres.createDatabase(), 4000));
  }
  const against = (name: string, of: (cost: MoneyCost) => number): Measure => {
    const given = bareCosts.map((cost) => (cost * of(budget)) / bareCall);
    return measure(`${name}, against its budget: CPU`, 'µs/call', given, costs.map(of), 'ratio');
  };
  return [
    against('hold', ({ hold }) => hold),
    against('seal', ({ seal }) => seal),
    against('settle', ({ settle }) => settle),
    against('metering and sealing', ({ hold, seal, settle }) => hold + seal + settle),
  ];
}

function refuseFailures(name: string, failures: number): void {
  if (failures > 0) throw new Error(`${name}: ${failures} requests failed; a benchmark of failures says nothing`);
}
