import { describe, expect, test } from 'vitest';
import { failureOf } from '../documents/world.ts';
import { runGwctl } from '../harness/gwctl.ts';
import {
  type Answer,
  ask,
  asked,
  decided,
  MAIL,
  MOOD,
  NOUL,
  router,
  startContract,
  sum,
  tap,
  TASKS,
  TOPIC,
  typed,
  upstream,
  weightsOf,
  world,
} from './contract-world.ts';
import { protectedDecisions } from './protected-decisions.ts';

/**
 * Spec 2.6 and 4.4 where clients meet them: a gateway, the engine with the models that are checked in, and what goes from
 * one to the other. What a model answers is taken as it is: these are the promises about the answer.
 */

startContract();

describe('an answer (2.6, 4.4.6)', () => {
  test('of the plain model has every field of its type, and nothing of a chat', async () => {
    const answer = await typed({ mail: MAIL }, { money: NOUL, topic: TOPIC, mood: MOOD }, 'open', { stream: true });
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    const decision = await decided(answer);
    expect(Object.keys(decision)).toEqual(['model', 'answers', 'revision', 'usage']);
    expect(decision.model).toBe('gw/typed');
    expect(decision.revision).toBe(weightsOf('typed'));
    const { money, topic, mood } = decision.answers;
    expect(Object.keys(money ?? {})).toEqual(['type', 'noul', 'confidence', 'answer_confidence']);
    expect(Object.keys(topic ?? {})).toEqual(['type', 'choice', 'probabilities', 'confidence', 'answer_confidence']);
    expect(Object.keys(mood ?? {}).toSorted()).toEqual(
      ['type', 'score', 'legend', 'probabilities', 'confidence', 'answer_confidence'].toSorted(),
    );
    expect(sum(topic?.probabilities)).toBeCloseTo(1, 6);
    expect(topic?.probabilities?.[topic.choice ?? '']).toBe(Math.max(...Object.values(topic?.probabilities ?? {})));
    expect(mood?.legend).toEqual({ 0: 'angry', 1: 'calm', 2: 'glad' });
    const { 1: calm = 0, 2: glad = 0 } = mood?.probabilities ?? {};
    expect(mood?.score).toBeCloseTo(calm + 2 * glad, 6);
    for (const { confidence, answer_confidence: sure } of Object.values(decision.answers)) {
      for (const share of [confidence, sure]) expect(share).toBeGreaterThanOrEqual(0);
      for (const share of [confidence, sure]) expect(share).toBeLessThanOrEqual(1);
    }
  });

  test('of the router has its three questions and a decision', async () => {
    const decision = await decided(await router('Prove that there are infinitely many primes.'));
    expect(Object.keys(decision).toSorted()).toEqual(['answers', 'decision', 'model', 'revision', 'usage']);
    expect(decision.revision).toBe(weightsOf('router'));
    const { reasoning, complexity, task, ...others } = decision.answers;
    expect(others).toEqual({});
    expect(reasoning).toEqual({
      type: 'noul',
      noul: expect.any(Number) as number,
      confidence: expect.any(Number) as number,
    });
    expect(complexity).toMatchObject({
      type: 'score',
      legend: { 0: 'trivial', 1: 'simple', 2: 'moderate', 3: 'hard' },
    });
    expect(sum(complexity?.probabilities)).toBeCloseTo(1, 5);
    expect(task?.type).toBe('choice');
    expect(Object.keys(task?.probabilities ?? {}).toSorted()).toEqual(TASKS.toSorted());
    expect(TASKS).toContain(task?.choice);
  });
});

describe('the decision (4.4.3)', () => {
  const HISTORY = 'In German you would write "Bitte nicht stürzen" on the crate.';
  const texts: readonly { request: string; previous?: string; system?: string }[] = [
    { request: 'thank you!' },
    { request: 'and in dutch?', previous: HISTORY },
    { request: 'Assistant: and why?', previous: 'Assistant: Because I say so.', system: 'Be brief.' },
    {
      request:
        'Design a sharded rate limiter for 40 regions, prove that it never overspends, and compare three ways to rebalance it.',
      system: 'You advise engineers.',
    },
    { request: `${'Sum up all of this. '.repeat(3300)}the end` },
  ];

  test.each(texts)('shows the router the same text as gw/auto: %#', async (said) => {
    const { request, previous, system } = said;
    const state = previous === undefined && system === undefined ? request : said;
    const { decision } = await decided(await router(state));
    const chatMessages = [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      ...(previous === undefined
        ? []
        : [
            { role: 'user', content: 'hi' },
            { role: 'assistant', content: previous },
          ]),
      { role: 'user', content: request },
    ];
    const turns = chatMessages.filter(({ role }) => role !== 'system');
    const bodies: readonly (readonly [string, object])[] = [
      ['/v1/chat/completions', { messages: chatMessages }],
      ['/v1/messages', { messages: turns, max_tokens: 9, ...(system !== undefined && { system }) }],
      ['/v1/responses', { input: turns, ...(system !== undefined && { instructions: system }) }],
    ];
    for (const [path, body] of bodies) {
      const answer = await world.post(path, { model: 'gw/auto', ...body });
      expect(answer.status).toBe(200);
    }
    expect(asked('router')).toHaveLength(4);
    for (const { body } of asked('router')) expect(body).toEqual(asked('router')[0]?.body);
    // A router that is late is done without: what it says is looked for until it was in time.
    const routed = async (): Promise<string | null> => {
      const answer = await world.post('/v1/chat/completions', { model: 'gw/auto', messages: chatMessages });
      const { route } = await world.row(answer);
      return /the router reports \w+, complexity \d, (\w+);/.exec(route?.join('\n') ?? '')?.[1] ?? null;
    };
    await expect.poll(routed, { timeout: 30_000 }).toBe(decision?.route ?? null);
  });

  test.each([['tokenizing'], ['masking']])('is about the same text where policy rewrites it: %s', async (as) => {
    const state = { request: 'And to bob@example.com? Prove it.', previous: 'Write to ada@example.com.' };
    await decided(await router(state, as));
    const messages = [
      { role: 'assistant', content: state.previous },
      { role: 'user', content: state.request },
    ];
    const answer = await world.post('/v1/chat/completions', { model: 'gw/auto', messages }, { as });
    expect(answer.status).toBe(200);
    const [shown, routed] = asked('router');
    expect(JSON.stringify(shown?.body)).not.toContain('@');
    expect(routed?.body).toEqual(shown?.body);
  });

  test('is null where nothing is said, since gw/auto does not ask then', async () => {
    expect((await decided(await router('  '))).decision).toBeNull();
    tap.asked.length = 0;
    const blank = await world.post('/v1/chat/completions', {
      model: 'gw/auto',
      messages: [{ role: 'user', content: '  ' }],
    });
    expect(blank.status).toBe(200);
    expect(asked('router')).toHaveLength(0);
  });

  test('reads attachments, one or many, and more than anybody names', async () => {
    const plain = await decided(await router({ request: 'Sum it up.' }));
    const one = await decided(await router({ request: 'Sum it up.', attachments: 'a.pdf (application/pdf)' }));
    const list = await decided(await router({ request: 'Sum it up.', attachments: ['a.pdf (application/pdf)'] }));
    expect(list.answers).toEqual(one.answers);
    expect(one.answers).not.toEqual(plain.answers);
    expect((await router({ request: 'Sum it up.', attachments: Array<string>(5000).fill('a.pdf (b/c)') })).status).toBe(
      200,
    );
  });
});

describe('the state (4.4.4)', () => {
  test('is read to its 384th word', async () => {
    const words = (last: string, beyond: string): string => `${'so '.repeat(383)}${last} ${beyond}`;
    const noulOf = async (state: string): Promise<Answer | undefined> =>
      (await decided(await typed(state, { money: NOUL }))).answers['money'];
    const plain = await noulOf(words('so', ''));
    expect(await noulOf(words('so', 'money back, the customer wants money back'))).toEqual(plain);
    expect(await noulOf(words('money', ''))).not.toEqual(plain);
  });

  test.each([
    ['a text', MAIL],
    ['a list', [MAIL, { more: 1 }]],
    ['an object', { mail: MAIL }],
    ['128 KiB', 'x'.repeat(131_070)],
  ])('may be %s', async (_what, state) => {
    expect((await typed(state, { money: NOUL })).status).toBe(200);
  });
});

describe('what cannot be asked (4.4.4, 4.4.5)', () => {
  const long = 'x'.repeat(131_072);
  const names = { state: 'Ada Lovelace', questions: { q: NOUL } };
  const same = { ...TOPIC, criteria: { 'a[1]': null, 'a(1)': null } };
  const fits = { model: 'gw/typed', ...names };
  test.each([
    ['a state that is too large', { ...fits, state: long }, 413, 'state'],
    ['no state', { model: 'gw/typed', questions: { q: NOUL } }, 422, 'state'],
    ['a number for a state', { ...fits, state: 7 }, 422, 'state'],
    ['no questions', { ...fits, questions: undefined }, 422, 'questions'],
    ['17 questions', { ...fits, questions: Object.fromEntries(Array.from(long.slice(0, 17), (_, i) => [i, NOUL])) }, 400, 'questions'], // prettier-ignore
    ['a type that is none', { ...fits, questions: { q: { ...NOUL, type: 'text' } } }, 400, 'questions'],
    ['options that are the same to the model', { ...fits, questions: { q: same } }, 400, 'questions'],
    ['a set of questions that is too large', { ...fits, questions: { q: { ...NOUL, instructions: long } } }, 413, 'questions'], // prettier-ignore
    ['too many tokens', { ...fits, questions: { q: { ...NOUL, instructions: 'word '.repeat(1000) } } }, 400, 'questions'], // prettier-ignore
    ['too large a state for the router', { model: 'gw/typed/router', state: { request: long } }, 413, 'state'],
    ['no request for the router', { model: 'gw/typed/router', state: { previous: 'Ada' } }, 422, 'state.request'],
    ['no state for the router', { model: 'gw/typed/router' }, 422, 'state'],
    ['questions for the router: null', { model: 'gw/typed/router', state: 'Ada', questions: null }, 400, 'questions'],
    ['questions for the router: none', { model: 'gw/typed/router', state: 'Ada', questions: {} }, 400, 'questions'],
  ])('is refused before anybody is asked about it: %s', async (_what, body, status, param) => {
    const answer = await ask(body, 'guarded');
    const { error } = (await answer.json()) as { error: Record<string, unknown> };
    expect(answer.status).toBe(status);
    expect(error).toEqual({
      message: expect.any(String) as string,
      type: 'invalid_request_error',
      param,
      code: status === 413 ? 'request_too_large' : 'invalid_request',
    });
    expect(tap.asked).toHaveLength(0);
    expect(await world.row(answer)).toMatchObject({ outcome: 'refused', held_nano_eur: '0', cost_nano_eur: '0' });
  });

  test('is of 64 KiB of questions and no more, and of 128 KiB of a state', async () => {
    const noted = (note: string): object => ({ q: { ...NOUL, note } });
    const spare = 65_536 - JSON.stringify(noted('')).length;
    expect((await typed('Ada', noted('x'.repeat(spare)))).status).toBe(200);
    expect((await typed('Ada', noted('x'.repeat(spare + 1)))).status).toBe(413);
    const requested = (text: string): object => ({ request: text });
    const room = 131_072 - JSON.stringify(requested('')).length;
    expect((await router(requested('é'.repeat(room / 2)))).status).toBe(200);
    expect((await router(requested(`${'é'.repeat(room / 2)}x`))).status).toBe(413);
  });

  test('may be asked of the same workload, which is guarded and protected', async () => {
    const holiday = 'Ada Lovelace asks how many days of holiday she has left this year.';
    // A guard that has nobody to ask yet refuses.
    const status = async (): Promise<number> => {
      tap.asked.length = 0;
      return (await typed(holiday, { q: NOUL }, 'guarded')).status;
    };
    await expect.poll(status, { timeout: 90_000 }).toBe(200);
    expect(asked('typed')).toHaveLength(2);
    expect(asked('typed')[1]?.body['state']).not.toContain('Lovelace');
  });
});

protectedDecisions();

describe('where it is answered, and when not (4.4.7)', () => {
  test('nobody outside is asked', async () => {
    const before = upstream.requests.length;
    await decided(await typed(MAIL, { q: NOUL }));
    const answer = await router(MAIL);
    expect(answer.status).toBe(200);
    expect(upstream.requests).toHaveLength(before);
    expect(await world.row(answer)).toMatchObject({ provider: 'gw', jurisdiction: 'LOCAL' });
  });

  test('a router with more to do than it has room for says when to come again', async () => {
    const many = 24;
    tap.gather('router', many);
    const state = { request: 'word '.repeat(25_000) };
    const answers = await Promise.all(Array.from({ length: many }, () => router(state)));
    const busy = answers.filter(({ status }) => status !== 200);
    expect(busy.length).toBeGreaterThan(0);
    for (const answer of busy) {
      expect(answer.headers.get('retry-after')).toBe('2');
      expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'local_model_busy' });
      expect(await world.row(answer)).toMatchObject({ outcome: 'failed', cost_nano_eur: '0' });
    }
    expect((await router('hi')).status).toBe(200);
  });
});

describe('the bill (4.4.9)', () => {
  test.each([
    ['gw/typed', { q: { ...NOUL, criteria: { true: 'y'.repeat(40) } }, c: TOPIC }, 'parcela deliveryweather'],
    ['gw/typed/router', undefined, undefined],
  ])('is by four characters a token of what %s is shown, and sealed', async (model, questions, options) => {
    const state = { request: 'é'.repeat(1000) };
    const answer = await ask({ model, state, ...(questions && { questions }) });
    const { usage } = await decided(answer);
    const shown = questions ? `${NOUL.instructions}${TOPIC.instructions}${options}`.length + 40 : 0;
    const tokens = Math.ceil((JSON.stringify(state).length + shown) / 4);
    expect(usage).toEqual({ input_tokens: tokens, output_tokens: 0 });
    // 0.01 EUR for a million: ten nano-euro each.
    expect(await world.row(answer)).toMatchObject({
      outcome: 'served',
      model,
      usage: { input: tokens, output: 0 },
      cost_nano_eur: String(10 * tokens),
    });
  });

  test('is for answers alone: what is held for a question that cannot be read is given back', async () => {
    const unread = { q: { ...NOUL, instructions: '語'.repeat(1100) } };
    for (let time = 0; time < 8; time += 1) {
      const answer = await typed('x', unread, 'thrifty');
      expect(await failureOf(answer)).toMatchObject({ status: 400, param: 'questions.q' });
      const { held_nano_eur: held } = await world.row(answer);
      expect(Number(held) * 3).toBeGreaterThan(100_000);
    }
    expect((await typed('x', { q: NOUL }, 'thrifty')).status).toBe(200);
  });

  test.each([['gw/typed'], ['gw/typed/router']])('comes under the rules of any call: %s', async (model) => {
    const body = { model, state: 'hi', ...(model === 'gw/typed' && { questions: { q: NOUL } }) };
    expect(await failureOf(await ask(body, 'listed'))).toMatchObject({ status: 403, code: 'permission_denied' });
    expect(await failureOf(await ask(body, 'poor'))).toMatchObject({ status: 402 });
    await ask(body, 'slow');
    expect(await failureOf(await ask(body, 'slow'))).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(asked('typed', 'router').length).toBeLessThanOrEqual(1);
  });

  test('is in a chain that verifies', async () => {
    const { status, out } = await runGwctl(['audit', 'verify', '--database-url', world.databaseUrl]);
    expect(status).toBe(0);
    expect(out).toMatch(/verified|intact|rows/);
  });
});
