import { execFileSync } from 'node:child_process';
import { writeFileSync, mkdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../harness/free-port.ts';
import { newKey, startGateway } from '../harness/gateway.ts';
import { startPostgres } from '../harness/postgres.ts';
import { startRedis } from '../harness/redis.ts';
import { inspectorAt } from './inspector.ts';
import { createClient, openStream, send } from './load.ts';
import { round } from './measures.ts';
import { cpuMicroseconds, residentBytes, startProgram } from './processes.ts';
import { prompt } from './prompts.ts';
import { governedResources } from './resources.ts';

/**
 * Many open streams on one process: STREAMS (10,000) stay open for MINUTES (10) while the provider sends a chunk to one in
 * a hundred of them each second, and some short streams come and go. Tells memory a stream, CPU, delay of the event loop,
 * and how long the process takes to end them all.
 */
const STREAMS = Number(process.env['STREAMS'] ?? 10_000);
const MINUTES = Number(process.env['MINUTES'] ?? 10);
/** Opened at a time. */
const OPENING = 100;
/** Short streams a second, besides those that stay open. */
const CALLS = 10;

// A stream takes two sockets of the gateway, and one of the client's and the upstream's each.
const files = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }));
const wanted = 2 * STREAMS + 500;
if (files < wanted) {
  throw new Error(
    `${STREAMS} streams need ${wanted} open files a process and there are ${files}: run \`ulimit -n ${wanted}\` first ` +
      `(as root; a service has LimitNOFILE=), or take fewer with STREAMS=${Math.floor((files - 500) / 2)}`,
  );
}

await using things = new AsyncDisposableStack();
const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
things.defer(() => redis.stop());
things.defer(() => postgres.stop());
const upstream = await startProgram('./upstream.ts');
things.defer(() => upstream.stop());
const key = newKey();
const inspected = await freePort();
const gateway = await startGateway({
  resources: governedResources(`http://127.0.0.1:${upstream.port}`, key, newKey()),
  redisUrl: redis.url,
  databaseUrl: await postgres.createDatabase(),
  flags: ['--max-semi-space-size=32', `--inspect=127.0.0.1:${inspected}`],
  // Streams that are open at SIGTERM end after one second: the drain measures how long that takes.
  env: { GW_DRAIN_SECONDS: '1' },
});
things.defer(() => gateway.kill());
const inspector = await inspectorAt(inspected);
const target = { origin: gateway.url, key };

const active = createClient();
things.defer(() => active.destroy());
for (let call = 0; call < 2000; call++) await send(active, target, prompt(2048));
await sleep(2000);
const before = residentBytes(gateway.pid);

// Between two chunks of one stream lie a hundred seconds.
const held = createClient({ bodyTimeout: 0 });
const began = performance.now();
const body = prompt(2048, { stream: true, model: 'upstream/rare' });
let ended = 0;
for (let open = 0; open < STREAMS; open += OPENING) {
  const some = Math.min(OPENING, STREAMS - open);
  await Promise.all(Array.from({ length: some }, () => openStream(held, target, body, () => void ended++)));
}
const opening = (performance.now() - began) / 1000;
await sleep(2000);
const opened = residentBytes(gateway.pid);
const early = ended;

await inspector.evaluate(`(() => {
  const { monitorEventLoopDelay } = process.getBuiltinModule('node:perf_hooks');
  globalThis.delayOfLoop = monitorEventLoopDelay({ resolution: 1 });
  globalThis.delayOfLoop.enable();
})()`);
const cpuBefore = cpuMicroseconds(gateway.pid);
const asked = { calls: 0, failures: 0 };
const until = performance.now() + MINUTES * 60_000;
while (performance.now() < until) {
  const second = sleep(1000);
  const answers = await Promise.all(
    Array.from({ length: CALLS }, () => send(active, target, prompt(2048, { stream: true }))),
  );
  asked.calls += answers.length;
  asked.failures += answers.filter((ok) => !ok).length;
  await second;
}
const cpu = (cpuMicroseconds(gateway.pid) - cpuBefore) / 1e6 / (MINUTES * 60);
const delay = await inspector.evaluate<{ p50: number; p99: number; max: number }>(`(() => {
  const delay = globalThis.delayOfLoop;
  return { p50: delay.percentile(50) / 1e6, p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 };
})()`);
const kept = residentBytes(gateway.pid);
const lost = ended - early;
inspector.close();

const drainBegan = performance.now();
gateway.signal('SIGTERM');
const code = await gateway.exited;
const drain = (performance.now() - drainBegan) / 1000;
await held.destroy();

const result = {
  streams: STREAMS,
  minutes: MINUTES,
  'seconds to open them': round(opening),
  'KB a stream, when open': round((opened - before) / STREAMS / 1000),
  'KB a stream, at the end': round((kept - before) / STREAMS / 1000),
  'streams lost': early + lost,
  'short streams besides': asked.calls,
  'calls that failed': asked.failures,
  'processors in use': round(cpu),
  'loop delay ms, p50': round(delay.p50),
  'loop delay ms, p99': round(delay.p99),
  'loop delay ms, longest': round(delay.max),
  'seconds to drain': round(drain),
  'exit code': code,
  'open files allowed': files,
  'load average': loadavg().map(round).join(', '),
};
console.table(result);
mkdirSync('bench-results', { recursive: true });
writeFileSync('bench-results/streams.json', `${JSON.stringify(result, null, 2)}\n`);
if (asked.failures > 0 || early + lost > 0 || code !== 0) process.exitCode = 1;
