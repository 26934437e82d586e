import { MODELS, startDocumentEngine } from '../harness/document-engine.ts';
import { newKey, resource, startGateway, tenant } from '../harness/gateway.ts';
import { startPostgres } from '../harness/postgres.ts';
import { startUpstream } from '../harness/upstream.ts';
import { WRITTEN_TEXTS } from '../harness/written-texts.ts';
import { hash } from 'node:crypto';
import { cpuOf } from './cpu.ts';

/**
 * What it costs a call that names of people are looked for: prompts of 2 kB through the gateway, in turns with and without,
 * each text new so that nothing is remembered. The processor's time of both processes is the figure that holds.
 */
const CALLS = Number(process.env['BENCH_CALLS'] ?? 200);
const LENGTH = 2048;
const STRUCTURED = ['email', 'iban', 'phone', 'credit_card', 'address', 'national_id', 'date_of_birth', 'secret'];

await using servers = new AsyncDisposableStack();
const postgres = await startPostgres();
servers.defer(() => postgres.stop());
const upstream = await startUpstream();
servers.defer(() => upstream.close());
const engine = await startDocumentEngine({ GW_MODELS_DIR: MODELS });
servers.defer(async () => void (await engine.stop()));
const keys = { with: newKey(), without: newKey() };
const gateway = await startGateway({
  resources: [
    ...tenant({ upstreamUrl: upstream.url, key: keys.with, policy: { dlp: { mode: 'Tokenize' } } }),
    resource('Workload', 'without', { organizationRef: { name: 'acme' } }),
    resource('VirtualKey', 'without-key', {
      workloadRef: { name: 'without' },
      hash: { algorithm: 'SHA256', value: hash('sha256', keys.without, 'hex') },
    }),
    resource('Policy', 'without', {
      targetRefs: [{ kind: 'Workload', name: 'without' }],
      defaults: { dlp: { mode: 'Tokenize', entities: STRUCTURED } },
    }),
  ],
  databaseUrl: await postgres.createDatabase(),
  documentsUrl: engine.url,
});
servers.defer(async () => void (await gateway.stop()));

const prose = WRITTEN_TEXTS.flatMap(({ paragraphs }) => paragraphs).join(' ');

/** A prompt that nobody has asked before, of about 2 kB. */
function promptOf(call: number): string {
  const from = (call * 131) % (prose.length - LENGTH);
  return `${call}: ${prose.slice(from, from + LENGTH)} Mrs Ada Lovelace wrote this.`;
}

async function ask(key: string, call: number): Promise<number> {
  const began = performance.now();
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'upstream/m', messages: [{ role: 'user', content: promptOf(call) }] }),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text.slice(0, 300)}`);
  return performance.now() - began;
}

/** Until the gateway has seen that there is such a model. */
async function whenLooking(): Promise<void> {
  for (let call = -1; !upstream.requests.at(-1)?.body.includes('«PERSON_NAME_'); call -= 1) await ask(keys.with, -call);
}

await whenLooking();
const taken = { with: { ms: [] as number[], cpu: 0 }, without: { ms: [] as number[], cpu: 0 } };
for (let call = 0; call < CALLS; call += 1) {
  for (const side of ['with', 'without'] as const) {
    const cpu = cpuOf(engine, gateway);
    taken[side].ms.push(await ask(keys[side], 1000 + 2 * call + Number(side === 'with')));
    taken[side].cpu += cpuOf(engine, gateway) - cpu;
  }
}
const at = (values: readonly number[], share: number): number =>
  Number((values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0).toPrecision(3));
console.table(
  Object.fromEntries(
    Object.entries(taken).map(([side, { ms, cpu }]) => [
      `${side} names`,
      { 'p50 ms': at(ms, 0.5), 'p95 ms': at(ms, 0.95), 'CPU ms a call': Number((cpu / CALLS).toPrecision(3)) },
    ]),
  ),
);
