import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { failureOf, ocrOf, startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { chat, json } from '../harness/answers.ts';
import { REVISION, startModelsServer, type ModelsServer } from '../harness/models-server.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** What the scope guard judges a call by, as the model is asked at the doors of the gateway: what a person says, once. */

const cleanup = new AsyncDisposableStack();
let models: ModelsServer;
let upstream: Upstream;
let world: DocumentWorld;
beforeAll(async () => {
  models = cleanup.use(await startModelsServer());
  upstream = cleanup.use(await startUpstream(chat({ content: 'Hello.' })));
  const guarded = (mode: string): object => ({
    policy: { dlp: { mode: 'AllowLog' }, scopeGuard: { mode, scope: 'Questions about tax in Austria.' } },
  });
  world = cleanup.use(
    await startDocumentWorld({
      documentsUrl: models.url,
      upstreamUrl: upstream.url,
      // What calls name here was made elsewhere.
      organization: { sharedObjects: 'Organization' },
      prices: [
        { model: 'upstream/*', input: '1', output: '1' },
        { model: 'upstream/painter', unit: 'Image', input: '0.04' },
        { model: 'upstream/by-the-page', unit: 'Page', input: '0.02' },
      ],
      applications: { blocking: guarded('Block'), watching: guarded('Monitor') },
    }),
  );
});
afterAll(() => cleanup.disposeAsync());
/** Within the purpose is what speaks of tax. */
beforeEach(() => {
  models.asked.length = 0;
  models.models.set('typed', ({ state }) => {
    const inside = JSON.stringify(state).includes('tax') ? 0.9 : 0.1;
    return { body: { answers: [{ probabilities: [inside, 1 - inside], answer_confidence: 0.5 }], revision: REVISION } };
  });
});

const judged = (): readonly unknown[] => models.asked.map(({ body }) => (body['state'] as { request: string }).request);
const user = (content: unknown): object => ({ role: 'user', content });
const OK = { role: 'assistant', content: 'As you wish.' };
const ask = (...said: readonly string[]): readonly object[] => said.flatMap((one) => [OK, user(one)]).slice(1);

const TAX = 'May I deduct the desk in my office at home from my tax?';
const STORY = 'Write me a long story about a dragon who lives in a castle.';

describe('a conversation', () => {
  const say = (messages: readonly object[], more: object = {}): Promise<Response> =>
    world.post('/v1/chat/completions', { model: 'upstream/m', messages, ...more }, { as: 'blocking' });

  test.each(['Yes please.', 'Thanks!', 'Yes, and for 2025?', 'Can you say that in German?', '用德语怎么说?'])(
    'that goes on is judged by what it follows: %s',
    async (followUp) => {
      expect((await say(ask(TAX, followUp))).status).toBe(200);
      expect((await say(ask(STORY, followUp))).status).toBe(403);
      expect(judged()).toEqual([`${TAX} ${followUp}`, `${STORY} ${followUp}`]);
    },
  );

  test.each([
    ['many words', STORY],
    ['eight words', 'Now write me a poem about the cats'],
    ['words without spaces', '请给我写一个关于住在海边城堡里的龙的长篇故事'],
    ['one long word', 'x'.repeat(81)],
  ])('that turns to something else is judged by that: %s', async (_what, text) => {
    expect(await failureOf(await say(ask(TAX, text)))).toMatchObject({ status: 403, code: 'scope_violation' });
    expect(judged()).toEqual([text]);
  });

  test('is judged by its last four texts at most, and by none before a long one', async () => {
    await say(ask('one', 'two', 'three', 'four', 'five'));
    await say(ask(TAX, STORY, 'Go on.', 'And then?'));
    await say(ask('Thanks!'));
    expect(judged()).toEqual(['two three four five', `${STORY} Go on. And then?`, 'Thanks!']);
  });

  test('is judged by all that nobody has answered yet', async () => {
    await say([user(STORY), user(TAX)]);
    expect(judged()).toEqual([`${STORY} ${TAX}`]);
  });

  test.each([
    ['more answers than one', { n: 2 }],
    [
      'a schema',
      { response_format: { type: 'json_schema', json_schema: { name: 'tax', schema: { type: 'object' } } } },
    ],
    ['members that nobody knows', { prompt: TAX, input: TAX, text: TAX }],
  ])('is judged by its user alone whatever goes with it: %s', async (_what, more) => {
    const system = { role: 'system', content: 'You know all of tax.' };
    const parts = [
      { type: 'text', text: 'Write a poem.' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
    ];
    expect((await say([system, user(parts)], more)).status).toBe(403);
    expect(judged()).toEqual(['Write a poem.']);
  });

  test('of instructions alone is judged by them', async () => {
    await say([{ role: 'system', content: TAX }]);
    expect(judged()).toEqual([TAX]);
  });

  test('of another family is judged alike', async () => {
    const result = { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: STORY }] };
    const used = { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'f', input: {} }] };
    const messages = [user(TAX), used, user([result, { type: 'text', text: 'Go on.' }])];
    await world.post('/v1/messages', { model: 'upstream/m', max_tokens: 9, messages }, { as: 'blocking' });
    const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' };
    const output = { type: 'function_call_output', call_id: 'c1', output: STORY };
    const input = [user([{ type: 'input_text', text: TAX }]), call, output, user('Go on.')];
    const instructions = 'Be kind.';
    await world.post('/v1/responses', { model: 'upstream/m', instructions, input, store: false }, { as: 'blocking' });
    await world.post('/v1/responses', { model: 'upstream/m', input: TAX, store: false }, { as: 'blocking' });
    expect(judged()).toEqual([`${TAX} Go on.`, `${TAX} Go on.`, TAX]);
  });
});

test.each([
  ['/v1/completions', { prompt: [STORY, TAX], suffix: 'x', user: 'u' }, `${STORY} ${TAX}`],
  ['/v1/embeddings', { input: [STORY, TAX], encoding_format: 'base64', user: 'u' }, `${STORY} ${TAX}`],
  ['/v1/images/generations', { prompt: TAX, size: '1024x1024', response_format: 'b64_json' }, TAX],
  [
    '/v1/moderations',
    {
      input: [
        { type: 'text', text: TAX },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'text', text: 'Go on.' },
      ],
    },
    `${TAX} Go on.`,
  ],
  [
    '/v1/audio/speech',
    { input: TAX, instructions: 'Speak low.', voice: 'ash', response_format: 'mp3' },
    `${TAX} Speak low.`,
  ],
])('%s is judged by what it says alone', async (path, body, said) => {
  await world.post(path, { model: 'upstream/painter', ...body }, { as: 'blocking' });
  expect(judged()).toEqual([said]);
});

test('a typed decision is judged by its state', async () => {
  const questions = { tax: { type: 'noul', instructions: 'It is about tax.' } };
  const state = [
    { role: 'user', content: 'Write a poem.' },
    { type: 'text', user: 'Go on.' },
    { id: 'In rhymes' },
    { type: '写诗' },
  ];
  const answer = await world.post('/v1/systemone', { model: 'gw/typed', state, questions }, { as: 'blocking' });
  expect(answer.status).toBe(403);
  expect(judged()).toEqual(['Write a poem. Go on. In rhymes 写诗']);
});

describe('what says nothing', () => {
  const nothing: readonly (readonly [string, string, object])[] = [
    ['a document', '/v1/ocr', { ...ocrOf(Buffer.from('a')), model: 'upstream/by-the-page' }],
    ['tokens', '/v1/embeddings', { model: 'upstream/m', input: [[1, 2, 3]], encoding_format: 'base64' }],
  ];

  test.each(nothing)('is refused: %s', async (_what, path, body) => {
    const before = upstream.requests.length;
    const answer = await world.post(path, body, { as: 'blocking' });
    expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'scope_guard_unavailable' });
    expect((await world.row(answer)).scope).toBe('no verdict: the request has no text');
    expect(upstream.requests).toHaveLength(before);
    expect(models.asked).toHaveLength(0);
  });

  test.each(nothing)('is let through where it is only watched: %s', async (_what, path, body) => {
    const answer = await world.post(path, body, { as: 'watching' });
    expect(await world.row(answer)).toMatchObject({ scope: 'no verdict: the request has no text', step: 'dispatch' });
    expect(models.asked).toHaveLength(0);
  });
});

describe('what is passed on', () => {
  const sound = new File(['RIFF'.repeat(250)], 'tax.wav', { type: 'audio/wav' });
  const send = (
    path: string,
    as: string,
    ...parts: readonly (readonly [string, string | File])[]
  ): Promise<Response> => {
    const body = new FormData();
    for (const [name, value] of parts) body.append(name, value);
    const headers = { authorization: `Bearer ${world.keys[as]}`, 'x-gw-provider': 'upstream' };
    return fetch(world.gateway.url + path, { method: 'POST', headers, body });
  };
  const before = (): void => upstream.respond(json({ text: 'hello', data: [] }));

  test('is judged once, by what it says wherever that stands, before anything is sent', async () => {
    before();
    const parts = [
      ['model', 'upstream/m'],
      ['response_format', 'json'],
      ['file', sound],
      ['temperature', '1'],
    ] as const;
    const inside = await send('/v1/audio/transcriptions?a=tax', 'blocking', ...parts, ['prompt', TAX]);
    expect(inside.status).toBe(200);
    expect((await world.row(inside)).scope).toBe('inside: 0.90');
    const sent = upstream.requests.length;
    const outside = await send(
      '/v1/audio/transcriptions?a=tax',
      'blocking',
      ...parts,
      ['prompt', STORY],
      ['prompt[]', 'x'],
    );
    expect(await failureOf(outside)).toMatchObject({ status: 403, code: 'scope_violation' });
    expect(await world.row(outside)).toMatchObject({ scope: 'outside: 0.10', step: 'inspect' });
    expect(upstream.requests).toHaveLength(sent);
    expect(judged()).toEqual([TAX, `${STORY} x`]);
  });

  test('is written down where it is only watched', async () => {
    before();
    const parts = [
      ['model', 'upstream/m'],
      ['file', sound],
      ['prompt', STORY],
    ] as const;
    const answer = await send('/v1/audio/transcriptions', 'watching', ...parts);
    expect(answer.status).toBe(200);
    expect(await world.row(answer)).toMatchObject({ outcome: 'served', scope: 'outside: 0.10' });
    expect(judged()).toEqual([STORY]);
  });

  test.each([
    ['sound alone', '/v1/audio/transcriptions', ['language', 'en']],
    ['a file', '/v1/files', ['purpose', 'tax']],
  ] as const)('is refused where it says nothing: %s', async (_what, path, field) => {
    before();
    const sent = upstream.requests.length;
    const answer = await send(path, 'blocking', ['model', 'upstream/m'], field, ['file', sound]);
    expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'scope_guard_unavailable' });
    expect((await world.row(answer)).scope).toBe('no verdict: the request has no text');
    expect(upstream.requests).toHaveLength(sent);
    expect(models.asked).toHaveLength(0);
  });

  test.each(['/v1/files?limit=10', '/v1/files/upstream~file-1', '/v1/videos/upstream~v-1/content'])(
    'and asks no model for anything is not judged: GET %s',
    async (path) => {
      before();
      const answer = await world.get(path, { as: 'blocking', headers: { 'x-gw-provider': 'upstream' } });
      expect(answer.status).toBe(200);
      expect(await world.row(answer)).not.toHaveProperty('scope');
      expect(models.asked).toHaveLength(0);
    },
  );

  test('is refused where it should say something and has no body', async () => {
    const headers = { authorization: `Bearer ${world.keys['blocking']}` };
    const answer = await fetch(`${world.gateway.url}/v1/videos/upstream~v-1/remix`, { method: 'POST', headers });
    expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'scope_guard_unavailable' });
  });
});
