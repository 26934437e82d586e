import { setTimeout as sleep } from 'node:timers/promises';
import { resolve } from 'node:path';
import { newKey, type GatewayOptions, type GatewayProcess } from '../harness/gateway.ts';
import { startPostgres } from '../harness/postgres.ts';
import { startRedis } from '../harness/redis.ts';
import { closedLoop, createClient } from './load.ts';
import { median } from './measures.ts';
import { cpuMicroseconds, startProgram } from './processes.ts';
import { prompt } from './prompts.ts';

/**
 * What a change costs a call: this tree and another checkout of the project, governed calls to the same upstream in
 * turns, in several starts of both. Prints the ratio of processor time, this tree's to the other's.
 *
 *     node test/bench/beside.ts OTHER-TREE [PROMPT-KIB | stream | translated-stream …]
 */
const [other, ...names] = process.argv.slice(2);
if (other === undefined) throw new Error('name the other checkout: make bench-beside TREE=../other');
const STARTS = Number(process.env['BENCH_STARTS'] ?? 5);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 6);
const CONNECTIONS = 64;
const WARM_UP = 10_000;

interface Tree {
  readonly start: (options: GatewayOptions) => Promise<GatewayProcess>;
  readonly resources: (upstreamUrl: string, key: string, cachedKey: string) => readonly object[];
}

/** A tree's own gateway and its own resources of the benchmark: what they must say changes with the tree. */
async function treeAt(directory: string): Promise<Tree> {
  const at = resolve(directory);
  const { startGateway } = (await import(`${at}/test/harness/gateway.ts`)) as { startGateway: Tree['start'] };
  const { governedResources } = (await import(`${at}/test/bench/resources.ts`)) as {
    governedResources: Tree['resources'];
  };
  return { start: startGateway, resources: governedResources };
}

/** The question that repeats, and how often in one measurement. */
interface Load {
  readonly body: string;
  readonly connections: number;
  readonly requests: number;
}

const STREAMS: Readonly<Record<string, string>> = {
  stream: 'upstream/static',
  'translated-stream': 'translated/static',
};

function loadOf(name: string): Load {
  const model = STREAMS[name];
  if (model !== undefined) return { body: prompt(2048, { model, stream: true }), connections: 16, requests: 160 };
  const kib = Number(name);
  return { body: prompt(kib * 1024), connections: CONNECTIONS, requests: Math.ceil(8000 / (kib + 2)) };
}

await using servers = new AsyncDisposableStack();
const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
servers.defer(() => redis.stop());
servers.defer(() => postgres.stop());
const upstream = await startProgram('./upstream.ts');
servers.defer(() => upstream.stop());
const client = createClient();
servers.defer(() => client.destroy());
const trees = { other: await treeAt(other), own: await treeAt('.') };

for (const name of names.length > 0 ? names : ['2', '20']) {
  const load = loadOf(name);
  const ratios: number[] = [];
  const costs = { other: [] as number[], own: [] as number[] };
  for (let start = 0; start < STARTS; start++) {
    const [otherSide, ownSide] = [await started(trees.other), await started(trees.own)];
    for (const side of [otherSide, ownSide])
      await cost(side, { ...load, requests: name in STREAMS ? load.requests * 3 : WARM_UP / Number(name) });
    for (let round = 0; round < ROUNDS; round++) {
      // Who goes first changes, so that what one leaves behind falls on both.
      const [a, b] = round % 2 === 0 ? [otherSide, ownSide] : [ownSide, otherSide];
      const [first, second] = [await cost(a, load), await cost(b, load)];
      const [before, now] = round % 2 === 0 ? [first, second] : [second, first];
      costs.other.push(before);
      costs.own.push(now);
      ratios.push(now / before);
    }
    await Promise.all([otherSide.gateway.stop(), ownSide.gateway.stop()]);
  }
  const sorted = ratios.toSorted((a, b) => a - b);
  const spread = [sorted[Math.floor(sorted.length / 4)]!, sorted[Math.floor((sorted.length * 3) / 4)]!];
  console.log(
    `${name in STREAMS ? name : `${name} KiB`}: ${median(costs.own).toFixed(0)} µs a call beside ${median(costs.other).toFixed(0)}, ratio ` +
      `${median(ratios).toFixed(3)} (middle half ${spread.map((value) => value.toFixed(3)).join(' to ')})`,
  );
}

interface Side {
  readonly gateway: GatewayProcess;
  readonly key: string;
}

async function started(tree: Tree): Promise<Side> {
  const key = newKey();
  const gateway = await tree.start({
    resources: tree.resources(`http://127.0.0.1:${upstream.port}`, key, newKey()),
    redisUrl: redis.url,
    databaseUrl: await postgres.createDatabase(),
    // Kept code takes heap, which a gateway in service does not have.
    env: { NODE_DISABLE_COMPILE_CACHE: '1' },
  });
  return { gateway, key };
}

/** Microseconds of processor time a call. */
async function cost({ gateway, key }: Side, { body, connections, requests }: Load): Promise<number> {
  const before = cpuMicroseconds(gateway.pid);
  const result = await closedLoop(client, { origin: gateway.url, key }, body, connections, Math.ceil(requests));
  // Rows are sealed and settled after the answer.
  await sleep(300);
  if (result.failures > 0) throw new Error(`${result.failures} of ${requests} calls failed`);
  return (cpuMicroseconds(gateway.pid) - before) / Math.ceil(requests);
}
