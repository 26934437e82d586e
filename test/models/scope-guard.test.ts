import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { failureOf, formOf, startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { chat } from '../harness/answers.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { BUSY, REVISION, startModelsServer, type ModelsServer, type Reply } from '../harness/models-server.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

const SCOPE = 'Questions about tax [in Austria].';
const LONG_SCOPE = Array.from({ length: 160 }, (_, at) => `word${at}`)
  .join(' ')
  .slice(0, 1000);
const likely = (inside: number): (() => Reply) => {
  const answers = [{ probabilities: [inside, 1 - inside], answer_confidence: 0.5 }];
  return () => ({ body: { answers, revision: REVISION } });
};

const cleanup = new AsyncDisposableStack();
let models: ModelsServer;
let upstream: Upstream;
let world: DocumentWorld;
beforeAll(async () => {
  models = cleanup.use(await startModelsServer());
  upstream = cleanup.use(await startUpstream(chat({ content: 'Hello.' })));
  world = cleanup.use(
    await startDocumentWorld({
      documentsUrl: models.url,
      upstreamUrl: upstream.url,
      prices: [{ model: 'upstream/*', input: '1', output: '1' }],
      applications: {
        blocking: { policy: { scopeGuard: { mode: 'Block', scope: SCOPE } } },
        longwinded: { policy: { scopeGuard: { mode: 'Block', scope: LONG_SCOPE } } },
        watching: { policy: { scopeGuard: { mode: 'Monitor', scope: SCOPE } } },
      },
    }),
  );
});
afterAll(() => cleanup.disposeAsync());
beforeEach(() => {
  models.asked.length = 0;
});

const user = (content: string): object => ({ role: 'user', content });
const say = (as: string, ...messages: readonly object[]): Promise<Response> =>
  world.post('/v1/chat/completions', { model: 'upstream/m', messages }, { as });
const requestsBefore = (): number => upstream.requests.length;

describe('a workload that is kept to its purpose', () => {
  test('is let through within it', async () => {
    models.models.set('typed', likely(0.93));
    const answer = await say('blocking', user('May I deduct my desk?'));
    expect(answer.status).toBe(200);
    expect((await world.row(answer)).scope).toBe('inside: 0.93');
    expect(models.asked).toEqual([
      {
        kind: 'typed',
        body: {
          state: { request: 'May I deduct my desk?' },
          questions: [
            {
              type: 'noul',
              instructions: 'The request is about this: Questions about tax in Austria.',
              options: [{ name: 'true' }, { name: 'false' }],
            },
          ],
          lane: 'guard',
        },
      },
    ]);
  });

  test('is judged by the parts of a purpose that is longer than the model reads', async () => {
    models.models.set('typed', ({ questions }) => {
      const { length } = questions as readonly object[];
      if (length < 4) return { status: 422, body: { fault: { kind: 'too_long', message: 'long', question: 0 } } };
      const answers = [0.1, 0.2, 0.9, 0.3].map((inside) => ({ probabilities: [inside, 1 - inside] }));
      return { body: { answers, revision: REVISION } };
    });
    const answer = await say('longwinded', user('May I deduct my desk?'));
    expect(answer.status).toBe(200);
    expect((await world.row(answer)).scope).toBe('inside: 0.90');
    const asked = models.asked.map(({ body }) =>
      (body['questions'] as readonly { readonly instructions: string }[]).map(({ instructions }) =>
        instructions.replace('The request is about this: ', ''),
      ),
    );
    expect(asked.map(({ length }) => length)).toEqual([1, 2, 4]);
    for (const parts of asked) expect(parts.join(' ')).toBe(LONG_SCOPE);
  });

  test('gets no verdict where even parts of it are too long', async () => {
    models.models.set('typed', () => ({ status: 422, body: { fault: { kind: 'too_long', message: 'long' } } }));
    const answer = await say('longwinded', user('May I deduct my desk?'));
    expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'scope_guard_unavailable' });
    expect((await world.row(answer)).scope).toBe('no verdict: too_long');
    expect(models.asked).toHaveLength(4);
  });

  test('is refused outside of it, with the reason', async () => {
    models.models.set('typed', likely(0.08));
    const before = requestsBefore();
    const answer = await say('blocking', user('Write a poem.'));
    const failure = await failureOf(answer);
    expect(failure).toMatchObject({ status: 403, code: 'scope_violation' });
    expect(failure.message).toContain('Questions about tax [in Austria]');
    expect(await world.row(answer)).toMatchObject({
      outcome: 'refused',
      step: 'inspect',
      scope: 'outside: 0.08',
      cost_nano_eur: '0',
    });
    expect(requestsBefore()).toBe(before);
  });

  test.each([
    ['is busy', (): Reply => BUSY, 'no verdict: busy'],
    ['is not there', undefined, 'no verdict: unavailable'],
    ['says what is no answer', (): Reply => ({ body: { answers: [], revision: REVISION } }), 'no verdict: unavailable'],
  ])('is refused where the model %s', async (_what, answers, verdict) => {
    if (answers) models.models.set('typed', answers);
    else models.models.delete('typed');
    const before = requestsBefore();
    const answer = await say('blocking', user('May I deduct my desk?'));
    expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'scope_guard_unavailable' });
    expect(answer.headers.get('retry-after')).toBe('2');
    expect((await world.row(answer)).scope).toBe(verdict);
    expect(requestsBefore()).toBe(before);
  });

  test('is judged by what its user said last', async () => {
    models.models.set('typed', likely(1));
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
    const tool = { role: 'tool', tool_call_id: 'c1', content: 'a poem' };
    const long = 'May I deduct the desk that I bought for my office at home?';
    await say('blocking', user('hi'), { role: 'assistant', content: null, tool_calls: [call] }, tool);
    await say('blocking', user('first'), { role: 'assistant', content: 'ok' }, user(long));
    expect(models.asked.map(({ body }) => body['state'])).toEqual([{ request: 'hi' }, { request: long }]);
  });

  test('is judged by the beginning and the end of what is long', async () => {
    models.models.set('typed', likely(1));
    const words = Array.from({ length: 1000 }, (_, index) => `w${index}`);
    await say('blocking', user(words.join(' ')));
    const state = models.asked[0]?.body['state'] as { readonly request: string } | undefined;
    expect(state?.request.split(' ')).toEqual([...words.slice(0, 260), '…', ...words.slice(-100)]);
  });

  test.each([
    ['without blanks', '假'.repeat(9000) + '诗', `${'假'.repeat(2600)} … ${'假'.repeat(999)}诗`],
    ['of long words', `${'x'.repeat(900)} `.repeat(20), `${`${'x'.repeat(900)} `.repeat(3).slice(0, 2600)} … ${`${'x'.repeat(900)} `.repeat(2).slice(-1001, -1)}`], // prettier-ignore
    ['of letters in one', '각'.repeat(2000), `${'각'.repeat(866)}가 … ${'\u11a8'}${'각'.repeat(333)}`],
  ])('is judged by the beginning and the end of what is long %s', async (_what, text, shown) => {
    models.models.set('typed', likely(1));
    await say('blocking', user(text));
    expect(models.asked[0]?.body['state']).toEqual({ request: shown });
  });

  test('is refused where it says nothing', async () => {
    models.models.set('typed', likely(1));
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    expect(await failureOf(await say('blocking', { role: 'user', content: [image] }))).toMatchObject({ status: 503 });
    const document = await world.anonymize(formOf(Buffer.from('a'), 'a.txt'), { as: 'blocking' });
    expect(await failureOf(document)).toMatchObject({ status: 503, code: 'scope_guard_unavailable' });
    expect(models.asked).toHaveLength(0);
  });
});

describe('a workload that is watched', () => {
  test.each([
    ['outside its purpose', likely(0.2), 'outside: 0.20'],
    ['where nobody can tell', (): Reply => BUSY, 'no verdict: busy'],
    ['where nobody answers in time', (): undefined => undefined, 'no verdict: late'],
  ])('is never refused: %s', async (_what, answers, verdict) => {
    models.models.set('typed', answers);
    const answer = await say('watching', user('Write a poem.'));
    expect(answer.status).toBe(200);
    expect(await world.row(answer)).toMatchObject({ outcome: 'served', scope: verdict });
  });
});

test('a workload without a guard is asked about nothing', async () => {
  models.models.set('typed', likely(0));
  const answer = await say('app', user('Write a poem.'));
  expect(answer.status).toBe(200);
  expect(models.asked).toHaveLength(0);
  expect(await world.row(answer)).not.toHaveProperty('scope');
});

test('rows with verdicts verify', async () => {
  const { status, out } = await runGwctl(['audit', 'verify', '--database-url', world.databaseUrl]);
  expect(status).toBe(0);
  expect(out).toMatch(/verified|intact|rows/);
});
