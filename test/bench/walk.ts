import { setTimeout as sleep } from 'node:timers/promises';
import { newKey, startGateway, tenant } from '../harness/gateway.ts';
import { freePort } from '../harness/free-port.ts';
import { startUpstream } from '../harness/upstream.ts';
import { inspectorAt } from './inspector.ts';

/**
 * Where one buffered chat call goes under src/: files entered, functions entered and function calls, by V8's precise coverage
 * of a warm embedded gateway. What other work of the process enters by chance does not count: a function does that each of
 * several calls enters, as often as in the call that enters it least.
 *
 *     node test/bench/walk.ts [--list]
 */
const isListed = process.argv.includes('--list');
const WARM_UP = 300;
const WALKS = 7;
/** Longer than rows and settlements wait to be written together. */
const SETTLED_MS = 700;
const SOURCES = new URL('../../src/', import.meta.url).href;
const BODY = JSON.stringify({
  model: 'upstream/static',
  max_tokens: 256,
  messages: [
    { role: 'system', content: 'You are a careful assistant.' },
    { role: 'user', content: 'Write to ada.lovelace@example.com about the numbers of the third quarter.' },
  ],
});

interface FunctionCoverage {
  readonly functionName: string;
  readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
}

interface Coverage {
  readonly result: readonly { readonly url: string; readonly functions: readonly FunctionCoverage[] }[];
}

/** Calls of each function under src/ since the last look, by file, place and name. */
function callsIn({ result }: Coverage): Map<string, number> {
  const calls = new Map<string, number>();
  for (const { url, functions } of result) {
    if (!url.startsWith(SOURCES)) continue;
    for (const { functionName, ranges } of functions) {
      const [whole] = ranges;
      if (whole === undefined || whole.count === 0) continue;
      const id = `${url.slice(SOURCES.length)}\t${functionName || '(nameless)'}\t${whole.startOffset}`;
      calls.set(id, (calls.get(id) ?? 0) + whole.count);
    }
  }
  return calls;
}

await using things = new AsyncDisposableStack();
const upstream = await startUpstream();
things.defer(() => upstream.close());
const key = newKey();
const inspected = await freePort();
const gateway = await startGateway({
  resources: tenant({
    upstreamUrl: upstream.url,
    key,
    workload: {
      limits: { requestsPerMinute: 1_000_000, tokensPerMinute: 2_000_000_000 },
      budget: { amount: '1000000', period: 'Daily' },
    },
    policy: { dlp: { mode: 'Tokenize' } },
  }),
  env: { NODE_OPTIONS: `--inspect=127.0.0.1:${inspected}` },
});
things.defer(async () => void (await gateway.stop()));

async function call(): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: BODY,
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the call was answered with ${response.status}: ${text}`);
}

for (let index = 0; index < WARM_UP; index++) await call();
const inspector = await inspectorAt(inspected);
things.defer(() => inspector.close());
await inspector.ask('Profiler.enable');
await inspector.ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
await call();
await sleep(SETTLED_MS);
const walks: Map<string, number>[] = [];
for (let index = 0; index < WALKS; index++) {
  await inspector.ask('Profiler.takePreciseCoverage');
  await call();
  await sleep(SETTLED_MS);
  walks.push(callsIn((await inspector.ask('Profiler.takePreciseCoverage')) as Coverage));
}

const entered = new Map<string, number>();
for (const id of walks[0]?.keys() ?? []) {
  const least = Math.min(...walks.map((walk) => walk.get(id) ?? 0));
  if (least > 0) entered.set(id, least);
}
const files = Map.groupBy(entered, ([id]) => id.split('\t', 1)[0]!);
const total = entered.values().reduce((sum, count) => sum + count, 0);
if (isListed) {
  for (const [file, functions] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`${file}: ${functions.length}`);
    for (const [id, count] of functions)
      console.log(`    ${id.split('\t')[1]} ${count > 1 ? `× ${count}` : ''}`.trimEnd());
  }
}
console.log(`${files.size} files, ${entered.size} functions, ${total} function calls`);
