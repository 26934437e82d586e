import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { failureOf, startDocumentWorld } from '../documents/world.ts';
import { chat, json } from '../harness/answers.ts';
import { resource } from '../harness/gateway.ts';
import { BUSY, REVISION, type Reply } from '../harness/models-server.ts';
import { startSpecWorld, type SpecWorld } from './world.ts';

/** Sections 2.6, 4.4 and 6.3: typed decisions. What models answer is set; what they are shown is kept. */

interface Question {
  readonly type: string;
  readonly instructions: string;
  readonly options: readonly { readonly name: string }[];
}
interface Decision {
  readonly model: string;
  readonly answers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly revision: string;
  readonly decision?: unknown;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}

const PLAIN = ({ questions }: Record<string, unknown>): Reply => ({
  body: {
    answers: (questions as readonly Question[]).map(({ options }) => ({
      probabilities: options.map((_, index) => (index === 0 ? 0.75 : 0.25 / (options.length - 1))),
      answer_confidence: 0.5,
    })),
    revision: REVISION,
  },
});
const ROUTER = ({ request }: Record<string, unknown>): Reply => {
  const hard = String(request).includes('prove');
  const body = {
    reasoning: hard ? 0.9 : 0.1,
    complexity: hard ? [0, 0, 0.2, 0.8] : [0.7, 0.2, 0.1, 0],
    task: Object.fromEntries(TASKS.map((task, index) => [task, index === 5 ? 0.65 : 0.05])),
  };
  return { body: { ...body, revision: REVISION } };
};
const TASKS = ['code', 'writing', 'translation', 'extraction', 'document', 'support', 'smalltalk', 'action'];
const NOUL = { type: 'noul', instructions: 'It is urgent.' };
const CHOICE = { type: 'choice', instructions: 'Which?', criteria: { a: 'the first', b: null } };
const SCORE = { type: 'score', instructions: 'How much?', criteria: ['little', 'more', 'most'] };
const AUTO = {
  alias: 'gw/auto',
  strategy: 'Auto',
  auto: { routes: [{ task: 'code', model: 'upstream/coder' }] },
  targets: [
    { model: 'upstream/dear', priority: 0 },
    { model: 'upstream/cheap', priority: 1 },
  ],
};

let world: SpecWorld;
beforeAll(async () => {
  world = await startSpecWorld({
    applications: {
      listed: { workload: { allowedModels: ['upstream/*'] } },
      poor: { workload: { budget: { amount: '0.00000001', period: 'Daily' } } },
      slow: { workload: { limits: { requestsPerMinute: 1 } } },
      blocking: { policy: { dlp: { mode: 'Block' } } },
      tokenizing: { policy: { dlp: { mode: 'Tokenize' } } },
      masking: { policy: { dlp: { mode: 'Mask' } } },
      european: { policy: { residency: { allowedJurisdictions: ['DE'] } } },
    },
    prices: [
      { model: 'upstream/dear', input: '9', output: '9' },
      { model: 'upstream/cheap', input: '1', output: '1' },
      { model: 'managed/*', input: '1', output: '0' },
      { model: 'american/*', input: '1', output: '0' },
    ],
    more: ({ upstream }) => [
      resource('ModelAlias', 'auto', AUTO),
      resource('ModelAlias', 'theirs', {
        alias: 'gw/theirs',
        strategy: 'Failover',
        targets: [{ model: 'typesafe/jev-latest' }],
      }),
      ...(['managed', 'american'] as const).map((slug) =>
        resource('Provider', slug, {
          slug,
          vendor: 'typesafe',
          keyOwnership: slug === 'managed' ? 'Managed' : 'Organization',
          jurisdiction: 'US',
          endpoint: { url: upstream, allowInsecure: true },
          credentials: [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'typesafe' } }],
        }),
      ),
    ],
  });
  world.models.models.set('typed', PLAIN).set('router', ROUTER);
  while (!(await (await world.get('/v1/models')).text()).includes('gw/typed/router')) await setTimeout(100);
}, 60_000);
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(() => {
  world.upstream.respond(chat({ content: 'Hello.' }));
  world.models.models.set('typed', PLAIN).set('router', ROUTER);
  world.models.asked.length = 0;
});

const ask = (body: object, as = 'app'): Promise<Response> => world.post('/v1/systemone', body, { as });
const plain = (state: unknown, questions: unknown, as = 'app', more: object = {}): Promise<Response> =>
  ask({ model: 'gw/typed', state, questions, ...more }, as);
const route = (state: unknown, more: object = {}): Promise<Response> =>
  ask({ model: 'gw/typed/router', state, ...more });
const decided = async (answer: Response | Promise<Response>): Promise<Decision> => {
  const told = await answer;
  expect(told.status).toBe(200);
  return (await told.json()) as Decision;
};
const statusOf = async (answer: Promise<Response>): Promise<number> => (await failureOf(await answer)).status;
const shown = (): Record<string, unknown> => world.models.asked.at(-1)?.body ?? {};

test('2.6/1 2.6/2 2.6/4 4.4/1 4.4/15 6.3/1 the plain model answers questions of any type, with no envelope of a chat', async () => {
  for (const state of [{ mail: 'x' }, ['x', 1], 'x']) {
    const answer = await plain(state, { urgent: NOUL, which: CHOICE, much: SCORE }, 'app', { stream: true });
    expect(answer.headers.get('content-type')).toContain('application/json');
    const body = await decided(answer);
    expect(Object.keys(body).sort()).toEqual(['answers', 'model', 'revision', 'usage']);
    expect([body.model, body.revision]).toEqual(['gw/typed', REVISION]);
    expect(Object.entries(body.answers).map(([name, { type }]) => `${name} ${String(type)}`)).toEqual([
      'urgent noul',
      'which choice',
      'much score',
    ]);
    expect(shown()['state']).toEqual(state);
  }
});

test('2.6/5 2.6/6 2.6/7 2.6/8 2.6/9 2.6/10 2.6/11 4.4/16 an answer has the fields of its type', async () => {
  const { answers } = await decided(plain('x', { urgent: NOUL, which: CHOICE, much: SCORE }));
  expect(answers['urgent']).toMatchObject({ noul: 0.75, confidence: 0.5, answer_confidence: 0.5 });
  expect(answers['which']).toMatchObject({ choice: 'a', probabilities: { a: 0.75, b: 0.25 }, answer_confidence: 0.5 });
  expect(answers['much']).toMatchObject({
    score: 0.375,
    legend: { 0: 'little', 1: 'more', 2: 'most' },
    probabilities: { 0: 0.75, 1: 0.125, 2: 0.125 },
    answer_confidence: 0.5,
  });
  for (const { confidence } of Object.values(answers)) expect(typeof confidence).toBe('number');
});

test('2.6/12 2.6/13 4.4/2 4.4/8 9/6 the router answers questions of its own, reasoning as ever, and decides', async () => {
  const { answers, decision } = await decided(route({ request: 'prove it' }));
  expect(Object.keys(answers)).toEqual(['reasoning', 'complexity', 'task']);
  expect(answers['reasoning']).toEqual({ type: 'noul', noul: 0.9, confidence: expect.any(Number) as number });
  expect(answers['complexity']).toMatchObject({
    type: 'score',
    legend: { 0: 'trivial', 1: 'simple', 2: 'moderate', 3: 'hard' },
  });
  expect(answers['task']).toMatchObject({ type: 'choice', choice: 'support' });
  expect(Object.keys(answers['task']?.['probabilities'] as object)).toEqual(TASKS);
  expect(decision).toEqual({ route: expect.any(String) as string, demand: expect.any(String) as string });
  const unsure = { reasoning: 0.5, complexity: [1, 0, 0, 0], task: { code: 1 }, revision: REVISION };
  world.models.models.set('router', () => ({ body: unsure }));
  expect((await decided(route('hi'))).decision).toBeNull();
});

test('4.4/3 decisions of another vendor: by name, on the own account, inside residency, through no alias', async () => {
  const answers = { q: { type: 'noul', noul: 0.5, confidence: 0 } };
  world.upstream.respond(json({ model: 'jev-1', answers, usage: { input_tokens: 9, output_tokens: 0 } }));
  const theirs = (model: string, as = 'app'): Promise<Response> =>
    ask({ model, state: 'x', questions: { q: NOUL } }, as);
  const answer = await theirs('american/jev-1');
  expect((await decided(answer.clone())).answers).toEqual(answers);
  expect((await world.row(answer)).jurisdiction).toBe('US');
  const before = world.upstream.requests.length;
  expect(await statusOf(theirs('gw/theirs'))).toBe(403);
  expect(await statusOf(theirs('managed/jev-1'))).toBe(403);
  expect(await statusOf(theirs('american/jev-1', 'european'))).toBe(403);
  expect(world.upstream.requests).toHaveLength(before);
});

test('4.4/4 an alias of the organization with the name of a local model goes before it', async () => {
  const alias = resource('ModelAlias', 'typed', {
    alias: 'gw/typed',
    strategy: 'Failover',
    targets: [{ model: 'upstream/m' }],
  });
  await using own = await startDocumentWorld({
    documentsUrl: world.models.url,
    upstreamUrl: world.upstream.url,
    prices: [{ model: 'upstream/*', input: '2', output: '8' }],
    more: [alias],
  });
  const messages = [{ role: 'user', content: 'hi' }];
  const answer = await own.post('/v1/chat/completions', { model: 'gw/typed', messages });
  expect(await own.row(answer)).toMatchObject({ provider: 'upstream', provider_model: 'm' });
  expect((await own.post('/v1/systemone', { model: 'gw/typed', state: 'x', questions: { q: NOUL } })).status).toBe(404);
});

test('4.4/5 the router is shown request, previous, system and attachments; a text is the request', async () => {
  const all = { request: 'hi', previous: 'a', system: 'b', attachments: ['c.pdf (application/pdf)'] };
  for (const [state, seen] of [
    ['hi', { request: 'hi' }],
    [{ request: 'hi' }, { request: 'hi' }],
    [all, all],
    [{ ...all, attachments: 'c.pdf (application/pdf)' }, all],
  ]) {
    await decided(route(state));
    expect(shown()).toEqual(seen);
  }
  expect(await statusOf(route({ previous: 'hi' }))).toBe(422);
  expect(await statusOf(route({ request: 7 }))).toBe(422);
});

/** Which model gw/auto takes. */
async function automatic(content: string, more: object = {}): Promise<string | null> {
  const answer = await world.chat({ model: 'gw/auto', messages: [{ role: 'user', content }], ...more });
  expect(answer.status).toBe(200);
  return (await world.row(answer)).provider_model;
}

test('4.4/6 4.4/7 the decision is what the alias takes from the text; tools and JSON mode, which it cannot see, change the route', async () => {
  expect((await decided(route('prove it'))).decision).toMatchObject({ route: 'reasoning' });
  expect((await decided(route('thanks'))).decision).toMatchObject({ route: 'fast' });
  // A router that is late is done without: what it says is looked for until it was in time.
  await expect.poll(() => automatic('prove it'), { timeout: 30_000 }).toBe('dear');
  expect(await automatic('thanks')).toBe('cheap');
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
  expect(await automatic('thanks', { tools })).toBe('dear');
  expect(await automatic('thanks', { response_format: { type: 'json_object' } })).toBe('dear');
});

test('4.4/9 4.4/10 8/12 a state is an object, a list or a text of at most 131,072 bytes: 422 otherwise, 413 beyond', async () => {
  expect((await plain('x'.repeat(131_070), { q: NOUL })).status).toBe(200);
  for (const state of ['x'.repeat(131_071), 'é'.repeat(65_536)])
    expect(await statusOf(plain(state, { q: NOUL }))).toBe(413);
  for (const state of [undefined, null, 7, true]) expect(await statusOf(plain(state, { q: NOUL }))).toBe(422);
});

test('4.4/12 the router takes no questions, not even none', async () => {
  for (const questions of [null, {}, { q: NOUL }]) expect(await statusOf(route('hi', { questions }))).toBe(400);
});

const many = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, at) => [`q${at}`, NOUL]));
const options = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `o${at}`);

test('4.4/13 8/13 1 to 16 questions, 2 to 20 options or levels, each with instructions, 64 KiB in all', async () => {
  const taken = [
    many(1),
    many(16),
    ...[2, 20].flatMap((n) => [CHOICE, SCORE].map((one) => ({ q: { ...one, criteria: options(n) } }))),
  ];
  for (const questions of taken) expect((await plain('x', questions)).status).toBe(200);
  for (const questions of [undefined, null]) expect(await statusOf(plain('x', questions))).toBe(422);
  const refused = [
    {},
    many(17),
    [NOUL],
    { q: { type: 'noul' } },
    { q: { ...NOUL, type: 'bool' } },
    ...[1, 21].flatMap((n) => [CHOICE, SCORE].map((one) => ({ q: { ...one, criteria: options(n) } }))),
  ];
  for (const questions of refused) expect(await statusOf(plain('x', questions)), JSON.stringify(questions)).toBe(400);
  expect(await statusOf(plain('x', { q: { ...NOUL, instructions: 'x'.repeat(65_536) } }))).toBe(413);
});

test('4.4/14 8/13 brackets and backticks are removed; options that are then the same, and a set too long, are 400', async () => {
  await decided(plain('x', { q: { ...CHOICE, instructions: '[P] is `it` (so)?' } }));
  expect((shown()['questions'] as readonly Question[])[0]?.instructions).toBe('P is it so?');
  for (const criteria of [{ 'a[1]': null, 'a(1)': null }, ['`x`', 'x']]) {
    expect(await statusOf(plain('x', { q: { ...CHOICE, criteria } }))).toBe(400);
  }
  expect((await plain('x', { q: { ...NOUL, instructions: 'x'.repeat(4000) } })).status).toBe(200);
  expect(await statusOf(plain('x', { q: { ...NOUL, instructions: 'x'.repeat(4001) } }))).toBe(400);
});

test('4.4/17 it is answered here whatever residency allows, and nobody outside is asked', async () => {
  const before = world.upstream.requests.length + world.providers.seen.length;
  for (const as of ['app', 'european']) {
    const answer = await plain('x', { q: NOUL }, as);
    expect(await world.row(answer)).toMatchObject({ outcome: 'served', provider: 'gw', jurisdiction: 'LOCAL' });
  }
  expect(world.upstream.requests.length + world.providers.seen.length).toBe(before);
});

test('4.4/18 without its model a decision fails closed with 503', async () => {
  world.models.models.delete('typed');
  expect(await statusOf(plain('x', { q: NOUL }))).toBe(503);
});

test('4.4/19 a busy router says 503 and Retry-After: 2', async () => {
  world.models.models.set('router', () => BUSY);
  const answer = await route('hi');
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
});

test('4.4/20 block refuses, tokenize and mask rewrite state, instructions and criteria', async () => {
  const state = { mail: 'ada@example.com' };
  const questions = {
    q: { ...CHOICE, instructions: 'Is it bob@example.com?', criteria: { 'cy@example.com': null, no: null } },
  };
  expect(await statusOf(plain(state, questions, 'blocking'))).toBe(422);
  expect(world.models.asked).toEqual([]);
  for (const as of ['tokenizing', 'masking']) {
    await decided(plain(state, questions, as));
    expect(JSON.stringify(shown())).not.toContain('@example');
  }
});

test('4.4/21 terms to be removed are removed from state and questions', async () => {
  const questions = { q: { ...NOUL, instructions: 'Falcon is late.' } };
  await decided(plain({ about: 'Falcon' }, questions, 'app', { gw: { remove: ['Falcon'] } }));
  expect(JSON.stringify(shown())).not.toContain('Falcon');
});

test('4.4/22 4.4/23 8/15 a decision is sealed and billed at ten nano-euro for four characters that the model is shown', async () => {
  const state = { ticket: 'x'.repeat(400) };
  const answer = await plain(state, { q: NOUL, c: CHOICE });
  const characters = JSON.stringify(state).length + 'It is urgent.'.length + 'Which?athe firstb'.length;
  const input_tokens = Math.ceil(characters / 4);
  expect((await decided(answer.clone())).usage).toEqual({ input_tokens, output_tokens: 0 });
  expect(await world.row(answer)).toMatchObject({ outcome: 'served', cost_nano_eur: String(10 * input_tokens) });
});

test('4.4/24 limits, budgets and allow-lists hold', async () => {
  expect(await statusOf(plain('x', { q: NOUL }, 'listed'))).toBe(403);
  expect(await statusOf(plain('x', { q: NOUL }, 'poor'))).toBe(402);
  await plain('x', { q: NOUL }, 'slow');
  expect(await statusOf(plain('x', { q: NOUL }, 'slow'))).toBe(429);
});

test('4.4/26 8/14 all questions go to the model at once, and what gives no answer is given up after its ten seconds', async () => {
  await decided(plain('x', { a: NOUL, b: NOUL, c: NOUL }));
  expect(world.models.asked.map(({ kind }) => kind)).toEqual(['typed']);
  world.models.models.set('typed', () => undefined);
  const started = performance.now();
  expect(await statusOf(plain('x', { q: NOUL }))).toBe(503);
  expect(performance.now() - started).toBeGreaterThan(9900);
});
