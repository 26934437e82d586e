import { describe, expect, test } from 'vitest';
import { failureOf, startDocumentWorld } from '../documents/world.ts';
import { chat, json } from '../harness/answers.ts';
import { resource } from '../harness/gateway.ts';
import { type Answers, CHOICE, decide, models, NOUL, startSystemone, upstream, world } from './systemone-world.ts';

startSystemone();

describe('models of the vendor of such decisions', () => {
  const answers = { q: { type: 'noul', noul: 0.5, confidence: 0 } };
  const jev = (model: string, as = 'app'): Promise<Response> =>
    decide({ model, state: { mail: 'ada@example.com' }, questions: { q: { ...NOUL, more: 1 } }, extra: true }, as);

  test('are asked by name, in their own words, and billed by what they tell', async () => {
    upstream.respond(json({ model: 'jev-1.14.0', answers, usage: { input_tokens: 9, output_tokens: 0 } }));
    const answer = await jev('typesafe/jev-1.14.0', 'tokenizing');
    expect(answer.status).toBe(200);
    expect(((await answer.json()) as Answers).answers).toEqual(answers);
    const sent = upstream.requests.at(-1);
    expect(sent?.path).toBe('/v1/systemone');
    expect(sent?.headers['authorization']).toBe('Bearer their-key');
    expect(JSON.parse(sent?.body ?? '')).toEqual({
      model: 'jev-1.14.0',
      state: { mail: '«EMAIL_1»' },
      questions: { q: { ...NOUL, more: 1 } },
      extra: true,
    });
    expect(await world.row(answer)).toMatchObject({ provider: 'typesafe', jurisdiction: 'US', cost_nano_eur: '9000' });
  });

  test('are shown what is left of names, and answer in those of the caller', async () => {
    const said = (type: string, names: object): object => ({ type, confidence: 0, ...names });
    const chosen = { choice: '[EMAIL]', probabilities: { '[EMAIL]': 1, no: 0 }, why: 'it says «[EMAIL]»' };
    upstream.respond(
      json({
        answers: { '[EMAIL] 2': said('noul', { noul: 1 }), '[EMAIL]': said('choice', chosen) },
        usage: { input_tokens: 1, output_tokens: 0 },
      }),
    );
    const criteria = { 'cy@example.com': null, no: null };
    const questions = { 'ada@example.com': { ...CHOICE, criteria }, 'bob@example.com': NOUL };
    const answer = await decide({ model: 'typesafe/jev-1.14.0', state: 'x', questions }, 'masking');
    expect(((await answer.json()) as Answers).answers).toEqual({
      'bob@example.com': said('noul', { noul: 1 }),
      'ada@example.com': said('choice', {
        choice: 'cy@example.com',
        probabilities: { 'cy@example.com': 1, no: 0 },
        why: chosen.why,
      }),
    });
    expect(upstream.requests.at(-1)?.body).not.toContain('@example.com');
    const same = { ...CHOICE, criteria: ['cy@example.com', 'di@example.com'] };
    const before = upstream.requests.length;
    const refused = await decide({ model: 'typesafe/jev-1.14.0', state: 'x', questions: { q: same } }, 'masking');
    expect(await failureOf(refused)).toMatchObject({ status: 400, code: 'invalid_request', param: 'questions' });
    expect(upstream.requests).toHaveLength(before);
  });

  test.each([
    ['by an alias', 'gw/theirs', 'app', 'permission_denied'],
    ['on an account of the installation', 'managed/jev-1.14.0', 'app', 'permission_denied'],
    ['where residency does not allow it', 'typesafe/jev-1.14.0', 'european', 'residency_denied'],
  ])('are not asked %s', async (_what, model, as, code) => {
    const before = upstream.requests.length;
    expect(await failureOf(await jev(model, as))).toMatchObject({ status: 403, code });
    expect(upstream.requests).toHaveLength(before);
  });

  test('are not offered by an alias', async () => {
    const { data } = (await (await world.get('/v1/models')).json()) as { data: readonly { id: string }[] };
    expect(data.map(({ id }) => id)).not.toContain('gw/theirs');
  });
});

test("an organization's aliases of the same names go before the local models", async () => {
  const alias = (name: string, id: string): object =>
    resource('ModelAlias', name, { alias: id, strategy: 'Failover', targets: [{ model: 'upstream/m' }] });
  await using own = await startDocumentWorld({
    documentsUrl: models.url,
    upstreamUrl: upstream.url,
    prices: [{ model: 'upstream/*', input: '2', output: '8' }],
    applications: { american: { policy: { residency: { allowedJurisdictions: ['US'] } } } },
    more: [alias('typed', 'gw/typed'), alias('router', 'gw/typed/router')],
  });
  upstream.respond(chat({ content: 'Hello.' }));
  const messages = [{ role: 'user', content: 'hi' }];
  for (const model of ['gw/typed', 'gw/typed/router']) {
    const answer = await own.post('/v1/chat/completions', { model, messages });
    expect(answer.status).toBe(200);
    expect(await own.row(answer)).toMatchObject({ model, provider: 'upstream', provider_model: 'm' });
    const outside = await own.post('/v1/chat/completions', { model, messages }, { as: 'american' });
    expect(await failureOf(outside)).toMatchObject({ status: 403, code: 'residency_denied' });
    const decision = await own.post('/v1/systemone', { model, state: 'x', questions: { q: NOUL } });
    expect(await failureOf(decision)).toMatchObject({ status: 404 });
  }
  expect(models.asked).toHaveLength(0);
});

test('without local models there is no decision', async () => {
  await using none = await startDocumentWorld({});
  const answer = await none.post('/v1/systemone', { model: 'gw/typed/router', state: 'x' });
  expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'local_model_unavailable' });
});
