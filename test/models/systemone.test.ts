import { describe, expect, test, vi } from 'vitest';
import { failureOf } from '../documents/world.ts';
import { BUSY, REVISION } from '../harness/models-server.ts';
import {
  type Answers,
  askedLast,
  CHOICE,
  decide,
  models,
  NOUL,
  plain,
  type Question,
  routed,
  SCORE,
  startSystemone,
  world,
} from './systemone-world.ts';

startSystemone();

describe('gw/typed', () => {
  test('answers the questions of its caller', async () => {
    const answer = await plain({ ticket: 'It burns.' }, { urgent: NOUL, which: CHOICE, much: SCORE });
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as Answers;
    expect(body).toEqual({
      model: 'gw/typed',
      answers: {
        urgent: { type: 'noul', noul: 0.75, confidence: 0.5, answer_confidence: 0.5 },
        which: {
          type: 'choice',
          choice: 'a',
          probabilities: { a: 0.75, b: 0.25 },
          confidence: 0.5,
          answer_confidence: 0.5,
        },
        much: {
          type: 'score',
          score: 0.375,
          legend: { 0: 'little', 1: 'more', 2: 'most' },
          probabilities: { 0: 0.75, 1: 0.125, 2: 0.125 },
          confidence: expect.closeTo(0.625, 10) as number,
          answer_confidence: 0.5,
        },
      },
      revision: REVISION,
      usage: { input_tokens: body.usage.input_tokens, output_tokens: 0 },
    });
    expect(askedLast()).toEqual({
      state: { ticket: 'It burns.' },
      questions: [
        { type: 'noul', instructions: 'It is urgent.', options: [{ name: 'true' }, { name: 'false' }] },
        {
          type: 'choice',
          instructions: 'Which?',
          options: [{ name: 'a', description: 'the first' }, { name: 'b' }],
        },
        { type: 'score', instructions: 'How much?', options: [{ name: 'little' }, { name: 'more' }, { name: 'most' }] },
      ],
    });
  });

  test('is billed by four characters a token of state and questions', async () => {
    const state = { ticket: 'x'.repeat(400) };
    const answer = await plain(state, { q: { ...NOUL, criteria: { true: 'y'.repeat(40), false: null } }, c: CHOICE });
    const { usage } = (await answer.json()) as Answers;
    const characters = JSON.stringify(state).length + 'It is urgent.'.length + 40 + 'Which?athe firstb'.length;
    expect(usage.input_tokens).toBe(Math.ceil(characters / 4));
    const row = await world.row(answer);
    expect(row).toMatchObject({
      surface: 'systemone',
      wire_format: 'systemone',
      outcome: 'served',
      model: 'gw/typed',
      provider: 'gw',
      provider_model: 'typed',
      jurisdiction: 'LOCAL',
      price: 'gatewarden typed decisions',
      usage: { input: usage.input_tokens, output: 0 },
      usage_source: 'provider',
      cost_nano_eur: String(10 * usage.input_tokens),
      step: null,
    });
    expect(BigInt(row.held_nano_eur)).toBeGreaterThanOrEqual(BigInt(row.cost_nano_eur));
  });

  test.each([
    ['a text', 'It burns.'],
    ['a list', [1, { a: null }]],
    ['an empty text', ''],
  ])('takes %s as its state', async (_what, state) => {
    expect((await plain(state, { q: NOUL })).status).toBe(200);
    expect(askedLast()['state']).toEqual(state);
  });

  test.each([
    ['no state', undefined, 422],
    ['null', null, 422],
    ['a number', 7, 422],
    ['a truth', true, 422],
    ['a byte too much', 'x'.repeat(131_072 - 1), 413],
    ['too many bytes in few characters', 'é'.repeat(65_536), 413],
  ])('refuses a state that is %s', async (_what, state, status) => {
    const answer = await plain(state, { q: NOUL });
    expect(await failureOf(answer)).toMatchObject({ status, param: 'state' });
    expect(await world.row(answer)).toMatchObject({ outcome: 'refused', held_nano_eur: '0', cost_nano_eur: '0' });
    expect(models.asked).toHaveLength(0);
  });

  test('takes a state of 128 KiB, however the request spells it', async () => {
    const text = JSON.stringify({ model: 'gw/typed', state: 'x'.repeat(131_070), questions: { q: NOUL } }, null, 8);
    const headers = { authorization: `Bearer ${world.keys['app']}`, 'content-type': 'application/json' };
    const answer = await fetch(`${world.gateway.url}/v1/systemone`, { method: 'POST', body: text, headers });
    expect(answer.status).toBe(200);
  });

  const many = (count: number, question: object = NOUL): object =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`q${index}`, question]));
  const options = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `o${index}`);
  test.each([
    ['no questions', undefined, 422],
    ['null', null, 422],
    ['a list', [NOUL], 400],
    ['none', {}, 400],
    ['17', many(17), 400],
    ['a text', { q: 'urgent?' }, 400],
    ['another type', { q: { ...NOUL, type: 'bool' } }, 400],
    ['no instructions', { q: { type: 'noul' } }, 400],
    ['instructions of nothing but what is removed', { q: { ...NOUL, instructions: '[`()]' } }, 400],
    ['a number for instructions', { q: { ...NOUL, instructions: 7 } }, 400],
    ['criteria of a noul that are a list', { q: { ...NOUL, criteria: ['yes'] } }, 400],
    ['criteria of a noul that are others', { q: { ...NOUL, criteria: { maybe: 'x' } } }, 400],
    ['a choice without options', { q: { type: 'choice', instructions: 'x' } }, 400],
    ['a choice of one', { q: { ...CHOICE, criteria: { a: null } } }, 400],
    ['a choice of 21', { q: { ...CHOICE, criteria: options(21) } }, 400],
    ['a score without an order', { q: { ...SCORE, criteria: { a: 'x', b: 'y' } } }, 400],
    ['a score of one level', { q: { ...SCORE, criteria: ['x'] } }, 400],
    ['a score of 21 levels', { q: { ...SCORE, criteria: options(21) } }, 400],
    ['options that are the same without brackets', { q: { ...CHOICE, criteria: { 'a[1]': null, 'a(1)': null } } }, 400],
    ['levels that are the same without backticks', { q: { ...SCORE, criteria: ['`x`', 'x'] } }, 400],
    ['an option that is nothing', { q: { ...CHOICE, criteria: { '[]': null, b: null } } }, 400],
    ['more than about 1,000 tokens', { q: { ...NOUL, instructions: 'x'.repeat(4001) } }, 400],
    ['more than 64 KiB', { q: { ...NOUL, instructions: 'x'.repeat(65_536) } }, 413],
  ])('refuses questions that are %s', async (_what, questions, status) => {
    const answer = await plain({}, questions);
    expect(await failureOf(answer)).toMatchObject({ status, param: 'questions' });
    expect(await world.row(answer)).toMatchObject({ outcome: 'refused', held_nano_eur: '0', cost_nano_eur: '0' });
    expect(models.asked).toHaveLength(0);
  });

  test.each([
    ['16 questions', many(16)],
    ['20 options', { q: { ...CHOICE, criteria: options(20) } }],
    ['20 levels', { q: { ...SCORE, criteria: options(20) } }],
    ['1,000 tokens', { q: { ...NOUL, instructions: 'x'.repeat(4000) } }],
    ['structured instructions', { q: { ...NOUL, instructions: { is: 'urgent' } } }],
  ])('takes %s', async (_what, questions) => {
    expect((await plain({}, questions)).status).toBe(200);
  });

  test('removes brackets and backticks for the model, and names options as the client did', async () => {
    const answer = await plain('x', {
      q: { type: 'choice', instructions: '[P] is `it` (so)?', criteria: { '[L] one': 'a (b)', two: null } },
    });
    const { answers } = (await answer.json()) as Answers;
    expect(answers['q']).toMatchObject({ choice: '[L] one', probabilities: { '[L] one': 0.75, two: 0.25 } });
    expect(askedLast()['questions']).toEqual([
      {
        type: 'choice',
        instructions: 'P is it so?',
        options: [{ name: 'L one', description: 'a b' }, { name: 'two' }],
      },
    ]);
  });
});

describe('gw/typed/router', () => {
  test('answers its own questions and says what the automatic alias would do', async () => {
    const answer = await routed({ request: 'prove it' });
    expect(await answer.json()).toEqual({
      model: 'gw/typed/router',
      answers: {
        reasoning: { type: 'noul', noul: 0.9, confidence: expect.closeTo(0.8, 10) as number },
        complexity: {
          type: 'score',
          score: expect.closeTo(2.8, 10) as number,
          legend: { 0: 'trivial', 1: 'simple', 2: 'moderate', 3: 'hard' },
          probabilities: { 0: 0, 1: 0, 2: 0.2, 3: 0.8 },
          confidence: expect.closeTo(0.7333333, 5) as number,
        },
        task: {
          type: 'choice',
          choice: 'support',
          probabilities: { code: 0.1, support: 0.9 },
          confidence: expect.closeTo(0.8, 10) as number,
        },
      },
      revision: REVISION,
      decision: { route: 'reasoning', demand: 'high' },
      usage: { input_tokens: 6, output_tokens: 0 },
    });
    expect(await world.row(answer)).toMatchObject({ provider_model: 'typed/router', cost_nano_eur: '60' });
  });

  test('abstains where it is not sure', async () => {
    const unsure = { reasoning: 0.5, complexity: [1, 0, 0, 0], task: { code: 1 }, revision: REVISION };
    models.models.set('router', () => ({ body: unsure }));
    expect((await (await routed('hi')).json()) as Answers).toMatchObject({ decision: null });
  });

  test.each([
    ['a text', 'hi', { request: 'hi' }],
    ['a request alone', { request: 'hi', other: 1 }, { request: 'hi' }],
    ['null for what is optional', { request: 'hi', previous: null, attachments: null }, { request: 'hi' }],
    [
      'all there is',
      { request: 'hi', previous: 'a', system: 'b', attachments: ['c.pdf (application/pdf)'] },
      { request: 'hi', previous: 'a', system: 'b', attachments: ['c.pdf (application/pdf)'] },
    ],
    ['one file as a text', { request: 'hi', attachments: 'c (d)' }, { request: 'hi', attachments: ['c (d)'] }],
  ])('reads %s', async (_what, state, input) => {
    expect((await routed(state)).status).toBe(200);
    expect(askedLast()).toEqual(input);
  });

  test.each([
    ['nothing', undefined],
    ['a list', ['hi']],
    ['no request', { previous: 'hi' }],
    ['a request that is no text', { request: ['hi'] }],
    ['a previous that is no text', { request: 'hi', previous: 1 }],
    ['a system that is no text', { request: 'hi', system: {} }],
    ['attachments that are no texts', { request: 'hi', attachments: [1] }],
  ])('refuses %s with 422', async (_what, state) => {
    const failure = await failureOf(await routed(state));
    expect(failure.status).toBe(422);
    expect(failure.param).toMatch(/^state/);
  });

  test.each([[null], [{}], [{ q: NOUL }]])('refuses questions with 400: %j', async (questions) => {
    const answer = await routed('hi', { questions });
    expect(await failureOf(answer)).toMatchObject({ status: 400, param: 'questions' });
  });
});

describe('what is protected', () => {
  const state = { mail: 'from ada@example.com' };
  test('is refused where policy says so, before a model reads it', async () => {
    for (const answer of [
      await plain(state, { q: NOUL }, 'blocking'),
      await plain({}, { q: { ...NOUL, instructions: 'Is it of ada@example.com?' } }, 'blocking'),
      await plain({}, { q: { ...CHOICE, criteria: { 'ada@example.com': null, b: null } } }, 'blocking'),
    ]) {
      expect(await failureOf(answer)).toMatchObject({ status: 422, code: 'data_protection' });
      expect(await world.row(answer)).toMatchObject({ dlp: { findings: { EMAIL: 1 } }, cost_nano_eur: '0' });
    }
    expect(models.asked).toHaveLength(0);
  });

  test('is hidden from the model and comes back in answers', async () => {
    const criteria = { 'ada@example.com': 'her', 'bob@example.com': 'him' };
    const answer = await plain(state, { q: { type: 'choice', instructions: 'Who?', criteria } }, 'tokenizing');
    const { answers } = (await answer.json()) as Answers;
    expect(answers['q']).toMatchObject({
      choice: 'ada@example.com',
      probabilities: { 'ada@example.com': 0.75, 'bob@example.com': 0.25 },
    });
    expect(JSON.stringify(askedLast())).not.toContain('@example.com');
    expect(askedLast()['state']).toEqual({ mail: 'from «EMAIL_1»' });
  });

  test('is masked for good, and options must still be told apart', async () => {
    expect((await plain(state, { q: NOUL }, 'masking')).status).toBe(200);
    expect(askedLast()['state']).toEqual({ mail: 'from [EMAIL]' });
    const criteria = { 'ada@example.com': null, 'bob@example.com': null, c: null };
    const same = await plain('x', { q: { ...CHOICE, criteria } }, 'masking');
    expect(await failureOf(same)).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(await world.row(same)).toMatchObject({ cost_nano_eur: '0' });
  });

  const OWN = { 'ada@example.com': 'her', '[IBAN]': 'an account', none: null };
  test.each([
    ['masking', ['EMAIL', 'IBAN', 'none']],
    ['tokenizing', ['«EMAIL_1»', 'IBAN', 'none']],
  ])('is told in the own words of its caller: %s', async (as, options) => {
    const questions = {
      'ada@example.com': { ...CHOICE, criteria: OWN },
      'bob@example.com': { ...SCORE, criteria: ['ada@example.com', 'c', '[EMAIL] [c]'] },
      '«EMAIL_1»': NOUL,
    };
    const answer = await plain({ 'ada@example.com': 1, 'bob@example.com': 2 }, questions, as);
    const { answers } = (await answer.json()) as Answers;
    expect(Object.keys(answers)).toEqual(Object.keys(questions));
    expect(answers['ada@example.com']).toMatchObject({ choice: 'ada@example.com' });
    expect(Object.keys(answers['ada@example.com']?.['probabilities'] ?? {})).toEqual(Object.keys(OWN));
    expect(answers['bob@example.com']?.['legend']).toEqual({ 0: 'ada@example.com', 1: 'c', 2: '[EMAIL] [c]' });
    const { state, questions: shown } = askedLast() as { state: object; questions: readonly Question[] };
    expect(JSON.stringify(askedLast())).not.toContain('@example.com');
    expect(Object.values(state)).toEqual([1, 2]);
    expect(shown[0]?.options.map(({ name }) => name)).toEqual(options);
  });

  test('honours terms to be removed', async () => {
    const answer = await decide({
      model: 'gw/typed/router',
      state: { request: 'about Falcon', attachments: ['Falcon.pdf (application/pdf)'] },
      gw: { remove: ['Falcon'] },
    });
    expect(answer.status).toBe(200);
    expect(askedLast()).toEqual({ request: 'about «TERM_1»', attachments: ['«TERM_1».pdf (application/pdf)'] });
  });
});

describe('what may be asked, and when', () => {
  test('fails closed where a model is not there', async () => {
    models.models.delete('typed');
    const answer = await plain('x', { q: NOUL });
    expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'local_model_unavailable' });
    expect(await world.row(answer)).toMatchObject({ outcome: 'failed', cost_nano_eur: '0', provider: 'gw' });
    expect((await routed('hi')).status).toBe(200);
  });

  test.each([['router'], ['typed']])('says when to come again where %s is busy', async (kind) => {
    models.models.set(kind, () => BUSY);
    const answer = kind === 'router' ? await routed('hi') : await plain('x', { q: NOUL });
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'local_model_busy' });
  });

  test('does not believe what is no answer', async () => {
    models.models.set('router', () => ({ body: { reasoning: 7 } }));
    expect(await failureOf(await routed('hi'))).toMatchObject({ status: 503, code: 'local_model_unavailable' });
  });

  test('keeps to allow-lists, budgets, the cap of its organization and limits', async () => {
    expect((await plain('x', { q: NOUL }, 'listed')).status).toBe(200);
    const unlisted = await world.post('/v1/systemone', { model: 'gw/typed/router', state: 'x' }, { as: 'listed' });
    expect(await failureOf(unlisted)).toMatchObject({ status: 403, code: 'permission_denied' });
    expect(await failureOf(await plain('x', { q: NOUL }, 'poor'))).toMatchObject({ status: 402 });
    expect(await failureOf(await plain('x', { q: NOUL }, 'capped'))).toMatchObject({ status: 402 });
    expect((await plain('x', { q: NOUL }, 'busy')).status).toBe(200);
    expect(await failureOf(await plain('x', { q: NOUL }, 'busy'))).toMatchObject({ status: 429 });
  });

  test('is told whatever residency allows: nothing leaves', async () => {
    expect((await plain('x', { q: NOUL }, 'european')).status).toBe(200);
  });

  test('is listed while it can answer', async () => {
    const ids = async (): Promise<readonly string[]> => {
      const { data } = (await (await world.get('/v1/models')).json()) as { data: readonly { id: string }[] };
      return data.map(({ id }) => id).filter((id) => id.startsWith('gw/'));
    };
    await vi.waitFor(async () => expect(await ids()).toEqual(['gw/typed', 'gw/typed/router']), { timeout: 20_000 });
    models.models.delete('typed');
    await plain('x', { q: NOUL });
    expect(await ids()).toEqual(['gw/typed/router']);
  });

  test.each([
    ['chat', '/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
    ['ocr', '/v1/ocr', { document: { type: 'document_url', document_url: 'https://a.test/b.pdf' } }],
  ])('is not reached through %s', async (_what, path, more) => {
    expect((await world.post(path, { model: 'gw/typed', ...more })).status).toBe(404);
  });

  test('is no model of another provider', async () => {
    const answer = await decide({ model: 'upstream/some', state: 'x', questions: { q: NOUL } });
    expect(await failureOf(answer)).toMatchObject({ status: 404, code: 'model_not_found' });
    const bare = await decide({ model: 'typed', state: 'x', questions: { q: NOUL } });
    expect(await failureOf(bare)).toMatchObject({ status: 400, code: 'model_not_prefixed' });
  });
});
