import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { failureOf, startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { chat, json } from '../harness/answers.ts';
import { resource } from '../harness/gateway.ts';
import { REVISION, startModelsServer, type ModelsServer } from '../harness/models-server.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import {
  PREDICATE,
  CHOICE,
  SCORE,
  QUESTIONS,
  PNG,
  type Decision,
  options,
  USED,
  TOLD,
  vendorAnswers,
} from './decision-samples.ts';

const cleanup = new AsyncDisposableStack();
let models: ModelsServer;
let upstream: Upstream;
let world: DocumentWorld;

beforeAll(async () => {
  models = cleanup.use(await startModelsServer());
  upstream = cleanup.use(await startUpstream());
  const credentials = [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'theirs', key: 'key' } }];
  const endpoint = { url: `${upstream.url}`, allowInsecure: true };
  const vendor = (slug: string, more: object = {}): object =>
    resource('Provider', slug, { slug, endpoint, jurisdiction: 'US', credentials, ...more });
  world = cleanup.use(
    await startDocumentWorld({
      documentsUrl: models.url,
      upstreamUrl: upstream.url,
      applications: {
        tokenizing: { policy: { dlp: { mode: 'Tokenize' } } },
        blocking: { policy: { dlp: { mode: 'Block' } } },
        poor: { workload: { budget: { amount: '0.00000001', period: 'Daily' } } },
      },
      prices: ['upstream', 'openai', 'fireworks', 'typesafe', 'anthropic'].map((slug) => {
        return { model: `${slug}/*`, input: '1', output: '2' };
      }),
      more: [
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'theirs', namespace: 'default' },
          stringData: { key: 'k' },
        },
        vendor('openai'),
        vendor('anthropic'),
        vendor('typesafe', { keyOwnership: 'Organization' }),
        vendor('fireworks', { models: [{ id: 'decider', upstreamId: 'accounts/x/models/d', decisions: 'SystemOne' }] }),
      ],
    }),
  );
}, 90_000);

afterAll(() => cleanup.disposeAsync());

beforeEach(() => {
  models.asked.length = 0;
  models.models.set('typed', ({ questions }) => ({
    body: {
      answers: (questions as { options: unknown[] }[]).map(({ options }) => ({
        probabilities: options.map((_, index) => (index === 0 ? 0.75 : 0.25 / (options.length - 1))),
        answer_confidence: 0.5,
      })),
      revision: REVISION,
    },
  }));
});

const decide = (body: object, as = 'app'): Promise<Response> => world.post('/v1/decisions', body, { as });

const ask = (model: string, more: object = {}, as = 'app'): Promise<Response> =>
  decide({ model, input: 'It burns at ada@corp.de.', questions: QUESTIONS, ...more }, as);

const native = {
  decisions: (): void => upstream.respond(vendorAnswers.decisions),
  systemone: (): void => upstream.respond(vendorAnswers.systemone),
};

const sentLast = (): { path: string; body: Record<string, never> } => {
  const { path, body } = upstream.requests.at(-1)!;
  return { path, body: JSON.parse(body) as Record<string, never> };
};

describe('the local model', () => {
  test('answers in this shape', async () => {
    const answer = await ask('gw/typed', {}, 'tokenizing');
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as Decision;
    expect(body).toMatchObject({
      model: 'gw/typed',
      revision: REVISION,
      answers: [
        { type: 'predicate', name: 'urgent', probability: 0.75, answer_confidence: 0.5 },
        {
          type: 'choice',
          name: 'team',
          choice: 'ada@corp.de',
          probabilities: [{ probability: 0.75 }, { value: true }, {}],
        },
        {
          type: 'score',
          name: null,
          score: 0.25,
          confidence: 0.5,
          probabilities: [
            { label: 'calm', value: 0, probability: 0.75 },
            { label: 'angry', value: 1, probability: 0.25 },
          ],
        },
      ],
    });
    expect(models.asked.at(-1)?.body).toEqual({
      state: 'It burns at «EMAIL_1».',
      questions: [
        { type: 'noul', instructions: 'It is urgent.', options: [{ name: 'true' }, { name: 'false' }] },
        {
          type: 'choice',
          instructions: 'Which team?',
          options: [{ name: '«EMAIL_1»', description: 'bills' }, { name: 'true' }, { name: 'other' }],
        },
        { type: 'score', instructions: 'How angry?', options: [{ name: 'calm' }, { name: 'angry: of «EMAIL_1»' }] },
      ],
    });
    const tokens = body.usage['input_tokens'] as number;
    expect(await world.row(answer)).toMatchObject({
      surface: 'decisions',
      provider_model: 'typed',
      jurisdiction: 'LOCAL',
      usage: { input: tokens, output: 0 },
      cost_nano_eur: String(10 * tokens),
    });
  });

  test.each([
    ['21 choices', { questions: [{ ...CHOICE, choices: options(21) }] }, 400, 'questions[0].choices'],
    ['pictures', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: PNG }] }] }, 400, 'input'],
    ['a set of 17', { questions: Array.from({ length: 17 }, () => PREDICATE) }, 400, 'questions'],
    ['128 KiB and more', { input: 'x'.repeat(131_072) }, 413, 'input'],
    [
      'true and "true"',
      { questions: [{ ...CHOICE, choices: [{ value: true }, { value: 'true' }] }] },
      400,
      'questions[0].choices',
    ],
  ])('is not asked with %s', async (_what, more, status, param) => {
    const answer = await ask('gw/typed', more);
    expect(await failureOf(answer)).toMatchObject({ status, param });
    expect(await world.row(answer)).toMatchObject({ outcome: 'refused', cost_nano_eur: '0' });
    expect(models.asked).toHaveLength(0);
  });

  test('says where more options are taken', async () => {
    const answer = await ask('gw/typed', { questions: [{ ...CHOICE, choices: options(255) }] });
    const { error } = (await answer.json()) as { error: { message: string } };
    expect(error.message).toBe(
      'gw/typed takes 2 to 20 choices per question, and this one has 255. gw/typed takes 20 of both; other models take up to ' +
        '255 choices and, unless they state fewer, 20 levels.',
    );
  });

  test('has no router in this shape', async () => {
    expect(await failureOf(await ask('gw/typed/router'))).toMatchObject({ status: 400, param: 'model' });
  });
});

describe('a vendor of this shape', () => {
  test('gets what was written, and its answer comes back in the words of the client', async () => {
    native.decisions();
    const answer = await ask('openai/gpt-6-luna', { safety_identifier: 'u1' }, 'tokenizing');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ answers: TOLD, usage: USED });
    const hidden = JSON.stringify(QUESTIONS).replaceAll('ada@corp.de', '«EMAIL_1»');
    expect(sentLast()).toEqual({
      path: '/v1/decisions',
      body: {
        model: 'gpt-6-luna',
        input: 'It burns at «EMAIL_1».',
        questions: JSON.parse(hidden) as unknown,
        safety_identifier: 'u1',
      },
    });
    expect(answer.headers.get('x-gw-losses')).toBeNull();
    expect(await world.row(answer)).toMatchObject({
      surface: 'decisions',
      wire_format: 'decisions',
      usage: { input: 40, output: 0 },
      cost_nano_eur: '40000',
      dlp: { findings: { EMAIL: 3 } },
    });
  });

  test('is sent 255 choices, and pictures', async () => {
    native.decisions();
    const input = [{ role: 'user', content: [{ type: 'input_image', image_url: PNG, detail: 'low' }] }];
    const answer = await ask('openai/gpt-6-luna', { input, questions: [{ ...CHOICE, choices: options(255) }] });
    expect(answer.status).toBe(200);
    expect(sentLast().body).toMatchObject({ input });
  });
});

describe.each([
  ['typesafe/jev-1.14.0', 'jev-1.14.0'],
  ['fireworks/decider', 'accounts/x/models/d'],
])('a vendor of the other shape: %s', (model, upstreamId) => {
  test('is asked in its own', async () => {
    native.systemone();
    const answer = await ask(model, { safety_identifier: 'u1' }, 'tokenizing');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ answers: TOLD, usage: USED });
    expect(sentLast()).toEqual({
      path: '/v1/systemone',
      body: {
        model: upstreamId,
        state: 'It burns at «EMAIL_1».',
        questions: {
          urgent: { type: 'noul', instructions: 'It is urgent.' },
          team: {
            type: 'choice',
            instructions: 'Which team?',
            criteria: { '«EMAIL_1»': 'bills', true: null, other: null },
          },
          'question 3': { type: 'score', instructions: 'How angry?', criteria: ['calm', 'angry: of «EMAIL_1»'] },
        },
      },
    });
    expect(answer.headers.get('x-gw-losses')).toBe('safety_identifier');
    expect(await world.row(answer)).toMatchObject({ usage: { input: 40 }, losses: ['safety_identifier'] });
  });

  test('takes ten levels', async () => {
    const before = upstream.requests.length;
    const levels = Array.from({ length: 11 }, (_, at) => ({ label: `l${at}` }));
    const answer = await ask(model, { questions: [{ ...SCORE, levels }] });
    expect(await failureOf(answer)).toMatchObject({ status: 400, param: 'questions[0].levels' });
    expect(upstream.requests).toHaveLength(before);
  });

  test('that leaves a question unanswered has not answered', async () => {
    upstream.respond(
      json({
        model: 'x',
        answers: { urgent: { type: 'noul', noul: 0.5 } },
        usage: { input_tokens: 1, output_tokens: 0 },
      }),
    );
    expect((await ask(model)).status).toBe(502);
  });
});

describe('any other model', () => {
  const written = (content: string): void => upstream.respond(chat({ content }));

  test('is asked for JSON', async () => {
    const likely = [
      { option: 0, probability: 0.5 },
      { option: 2, probability: 0.25 },
      { option: 9, probability: 1 },
    ];
    written(JSON.stringify({ question_1: 0.9, question_2: likely, question_3: [{ option: 1, probability: 2 }] }));
    const answer = await ask('upstream/m', { safety_identifier: 'u1' }, 'tokenizing');
    expect(answer.status).toBe(200);
    const { answers, usage, model } = (await answer.json()) as Decision;
    expect(model).toBe('m');
    expect(answers).toMatchObject([
      { probability: 0.9 },
      {
        choice: 'ada@corp.de',
        probabilities: [
          { value: 'ada@corp.de', probability: 0.5 },
          { value: true, probability: 0.25 },
          { probability: 0.25 },
        ],
      },
      { score: 1, probabilities: [{ probability: 0 }, { label: 'angry', probability: 1 }], confidence: 1 },
    ]);
    const { path, body } = sentLast() as unknown as { path: string; body: Record<string, Record<string, unknown>> };
    expect(path).toBe('/v1/chat/completions');
    expect(body['response_format']).toMatchObject({ type: 'json_schema', json_schema: { strict: true } });
    expect(JSON.stringify(body)).not.toContain('ada@corp.de');
    expect(JSON.stringify(body['messages'])).toContain('0: «EMAIL_1» (bills)');
    expect(answer.headers.get('x-gw-losses')).toContain('calibration');
    const row = await world.row(answer);
    expect(row).toMatchObject({ surface: 'decisions', wire_format: 'chat', outcome: 'served' });
    expect(usage).toMatchObject({ input_tokens: row.usage!.input });
    expect(row.cost_nano_eur).not.toBe('0');
  });

  test('may put a fence around it', async () => {
    written('Here you are:\n```json\n{"question_1": 1.5}\n```');
    const answer = await ask('upstream/m', { questions: [PREDICATE] });
    expect(await answer.json()).toMatchObject({ answers: [{ type: 'predicate', probability: 1 }] });
  });

  test.each(['I cannot say.', '{"question_1": "likely"}', '{}', '{"question_1": 1', '[]'])(
    'has declined with %s',
    async (content) => {
      written(content);
      const answer = await ask('upstream/m', { questions: [PREDICATE] });
      expect(await answer.json()).toMatchObject({ answers: [{ type: 'refusal', name: 'urgent' }] });
    },
  );

  test('that declines has refused each question', async () => {
    upstream.respond(
      json({
        id: 'c',
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: null, refusal: 'No.' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
      }),
    );
    const answer = await ask('upstream/m');
    expect(await answer.json()).toMatchObject({
      answers: [
        { type: 'refusal', name: 'urgent' },
        { type: 'refusal', name: 'team' },
        { type: 'refusal', name: null },
      ],
    });
  });

  test('is shown pictures', async () => {
    written('{"question_1": 0}');
    const content = [
      { type: 'input_text', text: 'See:' },
      { type: 'input_image', image_url: PNG },
    ];
    const answer = await ask('upstream/m', { input: [{ role: 'user', content }], questions: [PREDICATE] });
    expect(answer.status).toBe(200);
    expect(JSON.stringify(sentLast().body)).toContain(PNG);
  });
});

test.each([
  ['no input', { input: undefined }, 'input'],
  ['no questions', { questions: undefined }, 'questions'],
  ['questions by name', { questions: { a: PREDICATE } }, 'questions'],
  ['129 questions', { questions: Array.from({ length: 129 }, () => PREDICATE) }, 'questions'],
  ['another type', { questions: [{ ...PREDICATE, type: 'noul' }] }, 'questions[0].type'],
  ['no instructions', { questions: [PREDICATE, { type: 'predicate' }] }, 'questions[1].instructions'],
  ['a number as a name', { questions: [{ ...PREDICATE, name: 7 }] }, 'questions[0].name'],
  ['one choice', { questions: [{ ...CHOICE, choices: options(1) }] }, 'questions[0].choices'],
  ['256 choices', { questions: [{ ...CHOICE, choices: options(256) }] }, 'questions[0].choices'],
  ['a choice twice', { questions: [{ ...CHOICE, choices: [...options(2), ...options(1)] }] }, 'questions[0].choices'],
  ['21 levels', { questions: [{ ...SCORE, levels: options(21) }] }, 'questions[0].levels'],
  ['a stream', { stream: true }, 'stream'],
  ['another role', { input: [{ role: 'system', content: 'Hi' }] }, 'input'],
  [
    'a picture by address',
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://x.example/a.png' }] }] },
    'input',
  ],
])('refuses %s', async (_what, more, param) => {
  const before = upstream.requests.length;
  const answer = await ask('upstream/m', more);
  expect(await failureOf(answer)).toMatchObject({ status: 400, param });
  expect(upstream.requests).toHaveLength(before);
});

test('two choices that data protection makes one are refused', async () => {
  const choices = [{ value: 'ada@corp.de' }, { value: 'eve@corp.de' }];
  native.decisions();
  const asked = { questions: [{ ...CHOICE, choices }] };
  expect((await ask('openai/gpt-6-luna', asked, 'tokenizing')).status).toBe(200);
  expect(await failureOf(await ask('openai/gpt-6-luna', asked, 'blocking'))).toMatchObject({ status: 422 });
});

test('a term that is to be removed breaks no word of the format', async () => {
  native.decisions();
  const remove = ['user', 'predicate', 'name', 'burns'];
  const input = [{ role: 'user', content: [{ type: 'input_text', text: 'It burns.' }] }];
  const answer = await ask('openai/gpt-6-luna', { gw: { remove }, input, questions: [PREDICATE] });
  expect(answer.status).toBe(200);
  expect(sentLast().body).toMatchObject({ input: [{ role: 'user' }], questions: [PREDICATE] });
  expect(JSON.stringify(sentLast().body)).not.toContain('burns');
});

test('a budget is asked first, other methods are 405', async () => {
  const before = upstream.requests.length;
  expect((await ask('upstream/m', {}, 'poor')).status).toBe(402);
  expect(upstream.requests).toHaveLength(before);
  expect((await world.get('/v1/decisions')).status).toBe(405);
});
