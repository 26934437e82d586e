import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { failureOf, ocrOf, startDocumentWorld, written, type DocumentWorld } from '../documents/world.ts';
import { chat } from '../harness/answers.ts';
import { MODELS, startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { resource } from '../harness/gateway.ts';
import { startUpstream } from '../harness/upstream.ts';

/** The models that are checked in, of which two have a bit in their weights that is not theirs. // spec 4.4.7 */

const cleanup = new AsyncDisposableStack();
let engine: EngineProcess;
let world: DocumentWorld;
beforeAll(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gatewarden-altered-'));
  cleanup.defer(() => rmSync(dir, { recursive: true, force: true }));
  cpSync(MODELS, dir, { recursive: true });
  for (const kind of ['typed', 'router']) {
    const weights = readFileSync(join(MODELS, kind, 'model.onnx'));
    const middle = weights.length >> 1;
    weights.writeUInt8(weights.readUInt8(middle) ^ 1, middle);
    writeFileSync(join(dir, kind, 'model.onnx'), weights);
  }
  engine = await startDocumentEngine({ GW_MODELS_DIR: dir });
  cleanup.defer(async () => void (await engine.stop()));
  await engine.ready();
  const upstream = cleanup.use(await startUpstream(chat({ content: 'Hello.' })));
  world = cleanup.use(
    await startDocumentWorld({
      documentsUrl: engine.url,
      upstreamUrl: upstream.url,
      prices: [{ model: 'upstream/*', input: '1', output: '1' }],
      applications: {
        guarded: { policy: { scopeGuard: { mode: 'Block', scope: 'Holidays.' } } },
        masking: { policy: { dlp: { mode: 'Mask', entities: ['person_name'] } } },
      },
      more: [
        resource('ModelAlias', 'auto', {
          alias: 'gw/auto',
          strategy: 'Auto',
          targets: [{ model: 'upstream/m' }],
          auto: { routes: [{ task: 'code', model: 'upstream/coder' }] },
        }),
      ],
    }),
  );
});
afterAll(() => cleanup.disposeAsync());

const say = (model: string, content: string, as = 'app'): Promise<Response> =>
  world.post('/v1/chat/completions', { model, messages: [{ role: 'user', content }] }, { as });

test.each([
  ['gw/typed', { questions: { q: { type: 'noul', instructions: 'It is urgent.' } } }],
  ['gw/typed/router', {}],
])('nothing is decided by %s, whose weights cannot be verified', async (model, more) => {
  for (const _again of [1, 2]) {
    const answer = await world.post('/v1/systemone', { model, state: 'It burns.', ...more });
    expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'local_model_unavailable' });
    expect(await world.row(answer)).toMatchObject({ outcome: 'failed', provider: 'gw', cost_nano_eur: '0' });
  }
  expect((await world.get(`/v1/models/${model}`)).status).toBe(404);
});

test('neither is offered, in any shape', async () => {
  for (const headers of [{}, { 'anthropic-version': '2023-06-01' }]) {
    const listed = await (await world.get('/v1/models', { headers })).text();
    expect(listed).toContain('gw/auto');
    expect(listed).not.toContain('gw/typed');
  }
});

test('everything else goes on', async () => {
  expect((await say('upstream/m', 'hi')).status).toBe(200);
  const automatic = await say('gw/auto', 'Write a function that sorts.');
  expect(automatic.status).toBe(200);
  expect((await world.row(automatic)).route?.[0]).not.toContain('the router reports');
  expect((await say('upstream/m', 'I am Ada Lovelace.', 'masking')).status).toBe(200);
  expect((await world.ocr(ocrOf(await written('HELLO')))).status).toBe(200);
});

test('but what must be judged by them is refused', async () => {
  const answer = await say('upstream/m', 'How many days of holiday do I have left?', 'guarded');
  expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'scope_guard_unavailable' });
});
