import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../harness/free-port.ts';
import { startPostgres } from '../../harness/postgres.ts';
import { startRedis } from '../../harness/redis.ts';
import { createClient, pacedLoop, quantile, timedLoop } from '../load.ts';
import { median, round } from '../measures.ts';
import { cpuMicroseconds, familyOf, programOf, residentBytes, startProgram } from '../processes.ts';
import { prompt } from '../prompts.ts';
import { SETTLED_MS } from '../sides.ts';
import { PEERS } from './list.ts';
import { whenServing, type Peer, type RunningPeer } from './peer.ts';

/**
 * Gatewarden and other gateways: the same calls to the same upstream on loopback, each program alone with a processor,
 * everything else on the others. Each round starts every program again, in another order. Ends by itself.
 *
 *     node test/bench/peers/peers.ts
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5);
const CONNECTIONS = 64;
const STREAM_CONNECTIONS = 16;
const CHUNKS = 200;
const chosen = process.env['PEERS']?.split(',');
const peers = PEERS.filter(({ name }) => !chosen || chosen.includes(name.toLowerCase()));
if (peers.length === 0)
  throw new Error(
    `PEERS names an unknown program; known are ${PEERS.map(({ name }) => name.toLowerCase()).join(', ')}`,
  );

/** What one round has found of a program. */
interface Found {
  readonly rate: number;
  readonly cpu: number;
  readonly stores: number;
  readonly p50: number;
  readonly p99: number;
  readonly chunkRate: number;
  readonly chunkCpu: number;
  readonly idle: number;
  readonly after: number;
  readonly failures: number;
}

await using things = new AsyncDisposableStack();
pinOwn();
const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
things.defer(() => redis.stop());
things.defer(() => postgres.stop());
const upstream = await startProgram('./upstream.ts');
things.defer(() => upstream.stop());
const client = createClient();
things.defer(() => client.destroy());

const found = new Map<Peer, Found[]>(peers.map((peer) => [peer, []]));
const faults = new Map<Peer, string>();
for (let turn = 0; turn < ROUNDS; turn++) {
  for (const [index] of peers.entries()) {
    const peer = peers[(index + turn) % peers.length]!;
    if (faults.has(peer)) continue;
    try {
      found.get(peer)!.push(await roundOf(peer));
      console.error(`round ${turn + 1}: ${peer.name} (load average ${round(loadavg()[0]!)})`);
    } catch (error) {
      faults.set(peer, error instanceof Error ? error.message : String(error));
      console.error(`${peer.name}: ${faults.get(peer)}`);
    }
  }
}
tell();

async function roundOf(peer: Peer): Promise<Found> {
  const running = await peer.start({
    upstream: `http://127.0.0.1:${upstream.port}`,
    port: await freePort(),
    redisUrl: redis.url,
    databaseUrl: await postgres.createDatabase(),
  });
  try {
    await whenServing(client, running);
    pin(familyOf(running.pid), lastProcessor());
    return await measured(running);
  } finally {
    await running.stop();
  }
}

async function measured({ target, model, pid }: RunningPeer): Promise<Found> {
  const resident = (): number => familyOf(pid).reduce((sum, one) => sum + residentBytes(one), 0) / 1e6;
  const idle = resident();
  const body = prompt(2048, { model });
  const streaming = prompt(2048, { model, stream: true });
  // Warm-up, twice as long: compilers take their time.
  await timedLoop(client, target, body, CONNECTIONS, 2 * SECONDS);
  const calls = await costOf(pid, () => timedLoop(client, target, body, CONNECTIONS, SECONDS));
  const paced = await pacedLoop(client, target, body, calls.requests / calls.seconds / 2, SECONDS);
  await timedLoop(client, target, streaming, STREAM_CONNECTIONS, 1);
  const streams = await costOf(pid, () => timedLoop(client, target, streaming, STREAM_CONNECTIONS, SECONDS));
  return {
    rate: calls.requests / calls.seconds,
    cpu: calls.own / calls.requests,
    stores: calls.stores / calls.requests,
    p50: quantile(paced.latencies, 0.5),
    p99: quantile(paced.latencies, 0.99),
    // Of a program that does not stream there is nothing to tell.
    chunkRate: streams.failures > 0 ? Number.NaN : (streams.requests * CHUNKS) / streams.seconds,
    chunkCpu: streams.failures > 0 ? Number.NaN : streams.own / streams.requests / CHUNKS,
    idle,
    after: resident(),
    failures: calls.failures + paced.failures,
  };
}

/** What a load took of the program, and of Redis and PostgreSQL: microseconds of processors' time. */
async function costOf(pid: number, load: () => ReturnType<typeof timedLoop>) {
  const own = (): number => familyOf(pid).reduce((sum, one) => sum + cpuMicroseconds(one), 0);
  const before = { own: own(), stores: storesMicroseconds() };
  const result = await load();
  await sleep(SETTLED_MS);
  return { ...result, own: own() - before.own, stores: storesMicroseconds() - before.stores };
}

function storesMicroseconds(): number {
  const stores = familyOf(process.pid).filter((pid) => ['redis-server', 'postgres'].includes(programOf(pid)));
  return stores.reduce((sum, pid) => sum + cpuMicroseconds(pid), 0);
}

function lastProcessor(): string {
  return String(cpus().length - 1);
}

/** This process, and so all that it starts, on all processors but the last. */
function pinOwn(): void {
  if (cpus().length > 1) pin([process.pid], `0-${cpus().length - 2}`);
}

function pin(pids: readonly number[], processors: string): void {
  if (cpus().length < 2) return;
  for (const pid of pids) execFileSync('taskset', ['-a', '-c', '-p', processors, String(pid)], { stdio: 'ignore' });
}

function tell(): void {
  const rows = peers
    .filter((peer) => found.get(peer)!.length > 0)
    .map((peer) => {
      const rounds = found.get(peer)!;
      const of = (figure: (one: Found) => number): number => round(median(rounds.map(figure)));
      return {
        name: `${peer.name} ${peer.version}`,
        'calls/s': of(({ rate }) => rate),
        'CPU µs/call': of(({ cpu }) => cpu),
        'stores µs/call': of(({ stores }) => stores),
        'p50 ms': of(({ p50 }) => p50),
        'p99 ms': of(({ p99 }) => p99),
        'chunks/s': of(({ chunkRate }) => chunkRate),
        'CPU µs/chunk': of(({ chunkCpu }) => chunkCpu),
        'MB idle': of(({ idle }) => idle),
        'MB after': of(({ after }) => after),
        failures: rounds.reduce((sum, one) => sum + one.failures, 0),
      };
    });
  console.table(Object.fromEntries(rows.map(({ name, ...row }) => [name, row])));
  for (const { name, on } of peers) console.log(`${name}: ${on}`);
  for (const [{ name }, fault] of faults) console.log(`${name} did not run: ${fault}`);
  const own = peers.find(({ name }) => name === 'Gatewarden');
  if (own) for (const peer of peers) if (peer !== own) console.log(`Gatewarden to ${peer.name}: ${timesOf(own, peer)}`);
  const [processor] = cpus();
  const machine = `${cpus().length} × ${processor?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.versions.node}`;
  const load = loadavg().map(round);
  console.log(`${machine}; load average ${load.join(', ')}; ${ROUNDS} rounds of ${SECONDS} s`);
  mkdirSync('bench-results', { recursive: true });
  writeFileSync(
    'bench-results/peers.json',
    `${JSON.stringify({ machine, load, rounds: ROUNDS, seconds: SECONDS, rows }, null, 2)}\n`,
  );
}

/** Throughput in pairs of one round, and processor's time. */
function timesOf(own: Peer, peer: Peer): string {
  const pairs = found.get(own)!.flatMap((mine, index) => {
    const theirs = found.get(peer)![index];
    return theirs ? [{ rate: mine.rate / theirs.rate, cpu: mine.cpu / theirs.cpu }] : [];
  });
  if (pairs.length === 0) return 'not measured';
  const [rate, cpu] = [median(pairs.map((one) => one.rate)), median(pairs.map((one) => one.cpu))];
  return `${round(rate)} × throughput, ${round(cpu)} × CPU a call`;
}
