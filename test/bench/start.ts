import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { newKey, tenant } from '../harness/gateway.ts';
import { startPostgres } from '../harness/postgres.ts';
import { startRedis } from '../harness/redis.ts';
import { cpuOf } from './cpu.ts';

/**
 * What a start takes: seconds until the gateway is ready, processor time, and memory three seconds later and at its
 * highest. Programs start with what an earlier start left behind, as they do after the first start of an installation.
 *
 *     node test/bench/start.ts [OTHER-TREE …]
 *
 * Names of other checkouts are measured in turns with this one. BENCH_STARTS: starts of each (5); BENCH_ONLY:
 * stores, embedded-first, embedded-again, engine, engine-idle.
 */
const STARTS = Number(process.env['BENCH_STARTS'] ?? 5);
const SETTLED_MS = 3000;
const trees = ['.', ...process.argv.slice(2)].map((tree) => resolve(tree));

type Case = 'stores' | 'embedded-first' | 'embedded-again' | 'engine' | 'engine-idle';
const CASES: readonly Case[] = ['stores', 'embedded-first', 'embedded-again', 'engine', 'engine-idle'];
const wanted = process.env['BENCH_ONLY']?.split(',');

interface Start {
  readonly readyMs: number;
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly anonMb: number;
  readonly peakMb: number;
}

await using servers = new AsyncDisposableStack();
const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
servers.defer(() => redis.stop());
servers.defer(() => postgres.stop());

for (const one of CASES.filter((name) => wanted?.includes(name) ?? true)) {
  const found = new Map<string, Start[]>(trees.map((tree) => [tree, []]));
  for (let round = -1; round < STARTS; round++) {
    for (const tree of round % 2 === 0 ? trees : trees.toReversed()) {
      const start = await measure(tree, one);
      // The first fills caches.
      if (round >= 0) found.get(tree)!.push(start);
    }
  }
  const rows = [...found].map(([tree, starts]) => [`${one} ${tree}`, summary(starts)] as const);
  console.table(Object.fromEntries(rows));
}

async function measure(tree: string, name: Case): Promise<Start> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatewarden-start-'));
  try {
    const env = await environment(name, dataDir);
    if (name === 'embedded-again') await run(tree, name, env);
    return await run(tree, name, env);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function environment(name: Case, dataDir: string): Promise<Record<string, string>> {
  const models = join(resolve('.'), name === 'engine' ? 'inference/models' : 'test/harness/no-models');
  const engine = { PORT: '0', MALLOC_ARENA_MAX: '2', GW_INFERENCE_WORKERS: '1', GW_MODELS_DIR: models };
  if (name.startsWith('engine')) return engine;
  const gateway = { PORT: '0', ADMIN_PORT: '0', GW_DATA_DIR: dataDir, GW_INFERENCE: 'off', GW_MODEL_LIST_SECONDS: '0' };
  if (name !== 'stores') return gateway;
  const resources = tenant({ upstreamUrl: 'http://127.0.0.1:9/v1', key: newKey() });
  writeFileSync(join(dataDir, 'resources.yaml'), resources.map((one) => JSON.stringify(one)).join('\n---\n'));
  return { ...gateway, GW_CONFIG_DIR: dataDir, REDIS_URL: redis.url, DATABASE_URL: await postgres.createDatabase() };
}

/** Starts a program, waits until it is ready and has come to rest, and ends it. */
async function run(tree: string, name: Case, env: Readonly<Record<string, string>>): Promise<Start> {
  const isEngine = name.startsWith('engine');
  const entries = isEngine ? ['inference/start.js', 'inference/main.ts'] : ['src/start.js', 'src/main.ts'];
  const entry = entries.map((file) => join(tree, file)).find(existsSync)!;
  const flags = isEngine ? [] : ['--max-semi-space-size=32'];
  const began = performance.now();
  const child = spawn(process.execPath, [...flags, entry], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
  });
  const listening = Promise.withResolvers<string>();
  createInterface(child.stdout).on('line', (line) => {
    if (!/"(?:gateway|inference)\.listening"/.test(line)) return;
    const { url, admin = url } = JSON.parse(line) as { readonly url: string; readonly admin?: string };
    listening.resolve(admin);
  });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  void ended.then(() => listening.reject(new Error(`${entry} has ended`)));
  const admin = await listening.promise;
  while ((await fetch(`${admin}/readyz`)).status !== 200) await sleep(10);
  const readyMs = performance.now() - began;
  await sleep(SETTLED_MS);
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const megabytes = (field: string): number => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
  const cpuMs = cpuOf({ pid: child.pid! });
  child.kill('SIGTERM');
  await ended;
  return { readyMs, cpuMs, rssMb: megabytes('VmRSS'), anonMb: megabytes('RssAnon'), peakMb: megabytes('VmHWM') };
}

/** Medians, and from where to where they spread. */
function summary(starts: readonly Start[]): Record<string, string> {
  const text = (key: keyof Start): string => {
    const sorted = starts.map((start) => start[key]).toSorted((a, b) => a - b);
    const [least, middle, most] = [sorted[0]!, sorted[sorted.length >> 1]!, sorted.at(-1)!];
    return `${Math.round(middle)} (${Math.round(least)}-${Math.round(most)})`;
  };
  return Object.fromEntries((Object.keys(starts[0]!) as (keyof Start)[]).map((key) => [key, text(key)]));
}
