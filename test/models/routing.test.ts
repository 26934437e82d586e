import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { chat } from '../harness/answers.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { resource } from '../harness/gateway.ts';
import { writeModels, type ModelFolders } from '../harness/model-folders.ts';
import { BUSY, REVISION, startModelsServer, type ModelsServer } from '../harness/models-server.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

const PRICES = [
  { model: 'upstream/dear', input: '9', output: '9' },
  { model: 'upstream/cheap', input: '1', output: '1' },
  { model: 'upstream/coder', input: '5', output: '5' },
];
const AUTO = resource('ModelAlias', 'auto', {
  alias: 'gw/auto',
  strategy: 'Auto',
  targets: [
    { model: 'upstream/dear', priority: 0 },
    { model: 'upstream/cheap', priority: 1 },
  ],
  auto: { routes: [{ task: 'code', model: 'upstream/coder' }] },
});
const user = (content: unknown): object => ({ role: 'user', content });
const opinion = (reasoning: number, complexity: readonly number[], task: string): object => ({
  reasoning,
  complexity,
  task: { [task]: 0.8, action: 0.1 },
  revision: REVISION,
});

/** Resolves once the gateway knows that it has a router. */
async function listed(gateway: DocumentWorld): Promise<void> {
  while (!(await (await gateway.get('/v1/models')).text()).includes('gw/typed/router')) await setTimeout(100);
}

const cleanup = new AsyncDisposableStack();
let models: ModelsServer;
let upstream: Upstream;
let world: DocumentWorld;
beforeAll(async () => {
  models = cleanup.use(await startModelsServer());
  models.models.set('router', () => ({ body: opinion(0.1, [1, 0, 0, 0], 'support') }));
  upstream = cleanup.use(await startUpstream(chat({ content: 'Hello.' })));
  world = cleanup.use(
    await startDocumentWorld({
      documentsUrl: models.url,
      upstreamUrl: upstream.url,
      prices: PRICES,
      more: [AUTO],
    }),
  );
  await listed(world);
});
afterAll(() => cleanup.disposeAsync());
beforeEach(() => {
  models.asked.length = 0;
});

async function routed(messages: readonly object[], more: object = {}): Promise<string | null> {
  const answer = await world.post('/v1/chat/completions', { model: 'gw/auto', messages, ...more });
  expect(answer.status).toBe(200);
  return (await world.row(answer)).provider_model;
}

test.each([
  ['fast', opinion(0.1, [0.8, 0.1, 0.1, 0], 'support'), 'cheap'],
  ['balanced', opinion(0.1, [0, 0.1, 0.8, 0.1], 'support'), 'dear'],
  ['reasoning', opinion(0.9, [0.8, 0.1, 0.1, 0], 'support'), 'dear'],
  ['of a task with a route of its own', opinion(0.9, [0, 0, 0, 1], 'code'), 'coder'],
  ['undecided', opinion(0.5, [0, 0, 0, 1], 'code'), 'cheap'],
])('what is %s goes where gw/auto has it', async (_what, body, model) => {
  models.models.set('router', () => ({ body }));
  expect(await routed([user('why?')])).toBe(model);
  expect(models.asked).toEqual([{ kind: 'router', body: { request: 'why?' } }]);
});

test('the router is shown what any model is shown', async () => {
  models.models.set('router', () => ({ body: opinion(0.1, [1, 0, 0, 0], 'support') }));
  await routed([
    { role: 'system', content: 'Be brief.' },
    user('hi'),
    { role: 'assistant', content: 'Hello!' },
    user([{ type: 'text', text: 'and ada@example.com?' }]),
  ]);
  expect(models.asked[0]?.body).toEqual({
    request: 'and «EMAIL_1»?',
    previous: 'Hello!',
    system: 'Be brief.',
  });
  expect(upstream.requests.at(-1)?.body).not.toContain('ada@example.com');
});

test('where nothing is asked in words, the router is not asked', async () => {
  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
  await routed([
    user('hi'),
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c1', content: 'done' },
  ]);
  expect(models.asked).toHaveLength(0);
});

test.each([
  ['is busy', () => BUSY],
  ['says what is no answer', () => ({ body: {} })],
  ['says nothing', () => undefined],
])('where the router %s, the rule decides', async (_what, answer) => {
  models.models.set('router', answer);
  const began = performance.now();
  expect(await routed([user('why?')])).toBe('cheap');
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(await routed([user('why?')], { response_format: { type: 'json_object' } })).toBe('dear');
});

test('decision of gw/typed/router is what gw/auto does with the same text', async () => {
  let folders: ModelFolders | undefined;
  let engine: EngineProcess | undefined;
  try {
    folders = writeModels(['router']);
    engine = await startDocumentEngine({ GW_MODELS_DIR: folders.dir });
    await using real = await startDocumentWorld({
      documentsUrl: engine.url,
      upstreamUrl: upstream.url,
      prices: PRICES,
      more: [AUTO],
    });
    await listed(real);
    for (const [request, decision, model] of [
      ['thank you', { route: 'fast', demand: 'low' }, 'cheap'],
      ['why is that?', { route: 'balanced', demand: 'medium' }, 'dear'],
      ['```x```', { route: 'reasoning', demand: 'high' }, 'coder'],
    ] as const) {
      const decided = await real.post('/v1/systemone', { model: 'gw/typed/router', state: request });
      expect(await decided.json()).toMatchObject({ decision });
      const answer = await real.post('/v1/chat/completions', { model: 'gw/auto', messages: [user(request)] });
      expect((await real.row(answer)).provider_model).toBe(model);
    }
    const file = { request: 'thank you', attachments: 'a.pdf (application/pdf)' };
    const unsure = await real.post('/v1/systemone', { model: 'gw/typed/router', state: file });
    expect(await unsure.json()).toMatchObject({ decision: null });
  } finally {
    await engine?.stop();
    folders?.[Symbol.dispose]();
  }
});
