import { expect, test, vi } from 'vitest';
import { chat, sse, text } from '../harness/answers.ts';
import { gate } from '../harness/gate.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { PICTURE, SOUND, TRANSCRIPT } from '../journeys/vendor-answers.ts';
import { bearer } from './world.ts';
import { form, q, send, served, startSurfaces, strictKey, SURFACES, typed, world } from './surfaces-world.ts';

/** Sections 1, 2.1, 4.1, 4.2 and 9: what there is, and what holds for all of it. */

const MAIL = 'ada@example.com';
const HI = [{ role: 'user', content: 'Hi' }];

startSurfaces();

test('1/2 4.3/17 a request goes to the provider that its model names', async () => {
  await served(await world.chat({ model: 'upstream/some-model' }));
  expect(JSON.parse(world.upstream.requests.at(-1)?.body ?? '')).toMatchObject({ model: 'some-model' });
  await served(await world.chat({ model: 'mistral/mistral-large-4' }));
  expect(world.sentTo('mistral').at(-1)).toMatchObject({ model: 'mistral-large-4' });
});

test('1/3 a call is let in by its key, inspected, routed, sealed, metered and billed', async () => {
  const answer = await world.chat({ messages: [{ role: 'user', content: MAIL }] }, { as: 'tokenizing' });
  expect(world.upstream.requests.at(-1)?.body).toContain('«EMAIL_1»');
  const row = await world.row(answer);
  expect(row).toMatchObject({
    workload: 'default/tokenizing',
    dlp: { mode: 'tokenize', findings: { EMAIL: 1 } },
    provider: 'upstream',
    outcome: 'served',
    // 10 × 2 + 5 × 8 euro per million.
    cost_nano_eur: '60000',
  });
  expect([typeof row.strand, row.sequence > 0, BigInt(row.held_nano_eur) > 0n]).toEqual(['string', true, true]);
});

test('1/4 on every surface inspection comes first, then the route, then money; every refusal is sealed', async () => {
  for (const [index, [path, body]] of SURFACES.entries()) {
    const steps: unknown[] = [];
    for (const [model, prompt] of [
      ['openai/gpt-5.4', MAIL],
      ['openai/gpt-5.4', 'Hi'],
      ['upstream/m', 'Hi'],
    ] as const) {
      const answer = await world.post(path, { model, ...body(prompt) }, { as: `strict-${index}` });
      const { step } = await world.row(answer);
      steps.push([answer.status, step]);
    }
    expect([path, ...steps]).toEqual([path, [422, 'inspect'], [403, 'route'], [402, 'meter']]);
  }
});

test('1/6 4.1/1 4.1/2 4.1/3 4.1/4 4.1/5 chat, completions, embeddings, moderations and responses answer in their own words', async () => {
  const post = async (path: string, body: object): Promise<unknown> => served(await world.post(path, body));
  expect(await post('/v1/chat/completions', { model: 'openai/gpt-5.4', messages: HI })).toMatchObject({
    object: 'chat.completion',
    choices: [{ message: { content: 'Hello.' } }],
  });
  expect(await post('/v1/completions', { model: 'openai/gpt-3.5-turbo-instruct', prompt: 'Once' })).toMatchObject({
    object: 'text_completion',
    choices: [{ text: 'Once, and so on' }],
  });
  expect(await post('/v1/moderations', { model: 'openai/omni-moderation-latest', input: 'x' })).toMatchObject({
    results: [{ flagged: true }],
  });
  expect(await post('/v1/responses', { model: 'openai/gpt-5.4', input: 'Hi' })).toMatchObject({ object: 'response' });
  const embedded = await world.post('/v1/embeddings', { model: 'openai/text-embedding-3-small', input: 'Hi' });
  expect(await served(embedded.clone())).toMatchObject({ object: 'list', data: [{ object: 'embedding' }] });
  // 4 × 2 euro per million, for this call.
  expect(await world.row(embedded)).toMatchObject({ cost_nano_eur: '8000' });
});

test('1/7 4.1/6 typed decisions are answered by a local model and asked of no provider', async () => {
  typed();
  const before = world.providers.seen.length + world.upstream.requests.length;
  const answer = await world.post('/v1/systemone', { model: 'gw/typed', state: 'x', questions: { q } });
  expect(await served(answer)).toMatchObject({ model: 'gw/typed', answers: { q: { type: 'noul' } } });
  expect(world.providers.seen.length + world.upstream.requests.length).toBe(before);
});

test('4.1/7 8/16 text recognition is billed by the page', async () => {
  const document = { type: 'document_url', document_url: 'data:application/pdf;base64,JVBERi0xLjcK' };
  const answer = await world.post('/v1/ocr', { model: 'mistral/mistral-ocr-latest', document }, { as: 'open' });
  expect(await served(answer.clone())).toMatchObject({ pages: [{ markdown: '# Lunch' }] });
  expect(await world.row(answer)).toMatchObject({ cost_nano_eur: '10000000' });
});

test('4.1/11 9/1 one model is told by its id, below /v1', async () => {
  const one = await world.get('/v1/models/openai/gpt-5.4');
  expect([one.status, await one.json()]).toEqual([
    200,
    expect.objectContaining({ id: 'openai/gpt-5.4', object: 'model' }),
  ]);
  expect((await world.get('/v1/models/nobody/m')).status).toBe(404);
  for (const path of ['/chat/completions', '/models', '/v2/models']) {
    expect((await world.get(path)).status, path).toBe(404);
  }
});

test('4.1/12 4.2/2 sound is passed on to the routed provider, in its own shape', async () => {
  const file = new Blob([SOUND], { type: 'audio/mpeg' });
  world.answers.set('groq', ({ path }) =>
    path.endsWith('/translations') ? { body: '{"text":  "Lunch."}' } : undefined,
  );
  const heard = await send('/v1/audio/transcriptions', form({ model: 'openai/whisper-1', file }));
  expect([heard.status, await heard.text()]).toEqual([
    200,
    JSON.stringify({ text: TRANSCRIPT, usage: { type: 'duration', seconds: 3 } }),
  ]);
  const translated = await send('/v1/audio/translations', form({ model: 'groq/whisper-large-v3', file }));
  expect([translated.status, await translated.text()]).toEqual([200, '{"text":  "Lunch."}']);
  const said = await world.post('/v1/audio/speech', { model: 'openai/tts-1', voice: 'alloy', input: 'Lunch' });
  expect([said.status, Buffer.from(await said.arrayBuffer()).equals(SOUND)]).toEqual([200, true]);
  expect((await world.row(heard)).provider).toBe('openai');
});

test('4.1/13 pictures are made and edited by the routed provider', async () => {
  const made = await world.post('/v1/images/generations', { model: 'openai/gpt-image-1', prompt: 'A fox' });
  const b64_json = PICTURE.toString('base64');
  expect(await served(made)).toMatchObject({ data: [{ b64_json }] });
  const image = new Blob([PICTURE], { type: 'image/png' });
  const edited = await send('/v1/images/edits', form({ model: 'openai/gpt-image-1', prompt: 'Bluer', image }));
  expect(await served(edited)).toMatchObject({ data: [{ b64_json }] });
});

test('4.1/14 video is passed on to the routed provider', async () => {
  world.answers.set('openai', () => ({ body: { id: 'video_1', object: 'video', status: 'queued' } }));
  const answer = await world.post('/v1/videos', { model: 'openai/sora-2', prompt: 'A fox', seconds: '4' });
  expect([answer.status, await answer.clone().text()]).toEqual([200, expect.any(String)]);
  expect(await answer.json()).toMatchObject({ object: 'video', status: 'queued' });
  expect(world.providers.seen.at(-1)?.path).toBe('/v1/videos');
});

test('4.1/15 files are kept on the own account of the organization, or a custom provider, never on a managed one', async () => {
  const upload = (provider: string): Promise<Response> =>
    send('/v1/files', form({ purpose: 'batch', file: new Blob(['{}\n']) }), { 'x-gw-provider': provider });
  world.answers.set('openai', () => ({ body: { id: 'file-1', object: 'file' } }));
  world.upstream.respond(text('{"id":"file-2","object":"file"}', { headers: { 'content-type': 'application/json' } }));
  expect((await upload('openai')).status).toBe(200);
  expect((await upload('upstream')).status).toBe(200);
  const before = world.providers.seen.length;
  expect((await upload('managed')).status).toBe(403);
  expect(world.providers.seen).toHaveLength(before);
});

test('4.2/3 8/16 a vendor that makes pictures by a conversation only is asked so; the answer has b64_json, billed by the picture', async () => {
  const answer = await world.post('/v1/images/generations', {
    model: 'mistral/mistral-medium-latest',
    prompt: 'A fox',
  });
  expect(await served(answer.clone())).toMatchObject({ data: [{ b64_json: PICTURE.toString('base64') }] });
  expect(world.providers.seen.filter(({ kind }) => kind === 'mistral').map(({ path }) => path)).toContain(
    '/v1/conversations',
  );
  const row = await world.row(answer);
  expect(BigInt(row.cost_nano_eur)).toBeGreaterThanOrEqual(10_000_000n);
});

test('1/9 4.1/16 9/2 /v1/messages and /anthropic/v1/messages are one: any model answers in the vendor’s shape', async () => {
  for (const path of ['/v1/messages', '/anthropic/v1/messages']) {
    for (const model of ['upstream/m', 'anthropic/claude-sonnet-4-6', 'gemini/gemini-3-flash', 'gw/both']) {
      const answer = await world.post(path, { model, max_tokens: 64, messages: HI });
      expect(await served(answer.clone())).toMatchObject({
        type: 'message',
        content: [{ type: 'text', text: 'Hello.' }],
      });
      expect((await world.row(answer)).surface).toBe('messages');
    }
  }
});

test('4.1/17 4.5/16 tokens are counted here: nothing is sent, sealed or billed', async () => {
  const before = world.upstream.requests.length + world.providers.seen.length;
  for (const path of ['/v1/messages/count_tokens', '/anthropic/v1/messages/count_tokens']) {
    const answer = await world.post(path, { model: 'anthropic/claude-sonnet-4-6', messages: HI });
    const { input_tokens } = (await answer.json()) as { input_tokens: number };
    expect([answer.status, input_tokens > 0]).toEqual([200, true]);
  }
  const call = await world.chat();
  await world.row(call);
  const rows = await ledgerRows(world.databaseUrl);
  expect(rows.filter(({ surface }) => surface.includes('count'))).toEqual([]);
  expect(world.upstream.requests.length + world.providers.seen.length).toBe(before + 1);
});

test('4.1/19 4.5/18 HEAD answers 200 without a body, and no other method does', async () => {
  for (const path of ['/', '/anthropic']) {
    const probe = await fetch(`${world.gateway.url}${path}`, { method: 'HEAD' });
    expect([probe.status, await probe.text()]).toEqual([200, '']);
    const got = await fetch(`${world.gateway.url}${path}`, { headers: { accept: 'application/json' } });
    expect(got.status).toBe(404);
  }
});

interface Models {
  readonly object: string;
  readonly data: readonly { readonly id: string; readonly object: string; readonly owned_by: string }[];
}
const models = async (asking: object = {}): Promise<Models> =>
  (await (await world.get('/v1/models', asking)).json()) as Models;

test('1/10 4.1/10 2.1/1 2.1/3 2.1/4 2.1/5 models are a list of ids with their provider', async () => {
  const { object, data } = await models();
  expect([object, data.length > 0]).toEqual(['list', true]);
  for (const one of data) {
    expect(one).toMatchObject({ object: 'model', id: expect.stringMatching(/^[^/]+\/.+$/) as string });
    expect(typeof one.owned_by).toBe('string');
  }
  expect(data.find(({ id }) => id === 'swiss/m')?.owned_by).toBe('swiss');
});

test('2.1/2 2.1/6 a list has what policy and credentials reach, aliases too', async () => {
  const all = (await models()).data.map(({ id }) => id);
  expect(all).toContain('gw/both');
  expect(all).toContain('azure/gpt-4.1');
  expect(new Set(all).size).toBe(all.length);
  expect((await models({ as: 'listed' })).data.map(({ id }) => id)).toEqual(['gw/both', 'upstream/m']);
  const swiss = (await models(bearer(strictKey))).data.map(({ id }) => id);
  expect(swiss.filter((id) => !id.startsWith('gw/'))).toEqual(['swiss/m']);
});

test('2.1/7 the plain typed model is listed while it can answer', async () => {
  const listed = async (): Promise<boolean> => (await models()).data.some(({ id }) => id === 'gw/typed');
  typed();
  await vi.waitFor(async () => expect(await listed()).toBe(true), { timeout: 20_000, interval: 100 });
  world.models.models.delete('typed');
  await world.post('/v1/systemone', { model: 'gw/typed', state: 'x', questions: { q } });
  expect(await listed()).toBe(false);
});

test('1/11 what has no surface of its own is passed on as it is, streams too', async () => {
  const headers = { 'x-gw-provider': 'upstream' };
  world.upstream.respond(text('{"kept":1.0,  "text":"x"}', { headers: { 'content-type': 'application/json' } }));
  const answer = await world.post('/v1/fim/completions', { model: 'm', prompt: 'a' }, { headers, as: 'open' });
  expect([answer.status, await answer.text()]).toEqual([200, '{"kept":1.0,  "text":"x"}']);
  expect(world.upstream.requests.at(-1)?.path).toBe('/v1/fim/completions');
  world.upstream.respond(sse([{ data: '{"a":1.0}' }, { data: '[DONE]' }]));
  const streamed = await world.post(
    '/v1/fim/completions',
    { model: 'm', prompt: 'a', stream: true },
    { headers, as: 'open' },
  );
  expect(streamed.headers.get('content-type')).toContain('text/event-stream');
  expect(await streamed.text()).toContain('data: {"a":1.0}\n\ndata: [DONE]\n\n');
});

test('1/12 1/13 on a path that is not served a browser is sent to the docs, a client gets a plain 404', async () => {
  for (const path of ['/', '/nothing']) {
    const browser = await fetch(`${world.gateway.url}${path}`, {
      headers: { accept: 'text/html' },
      redirect: 'manual',
    });
    expect([browser.status, browser.headers.get('location')]).toEqual([302, expect.stringMatching(/^https:/)]);
    const client = await fetch(`${world.gateway.url}${path}`, { headers: { accept: 'application/json' } });
    expect([client.status, await client.text()]).toEqual([404, 'Not Found']);
  }
});

test('1/14 8/4 a call is priced and debited before it is sent', async () => {
  const door = gate();
  world.upstream.respond(chat({ content: 'Later.', gate: door }));
  const ask = (): Promise<Response> => world.chat({ model: 'upstream/per-call' }, { as: 'once' });
  const first = ask();
  await door.waiting();
  const second = await ask();
  expect(second.status).toBe(402);
  door.release();
  expect((await first).status).toBe(200);
});

test('1/15 6.1/7 refusals are sealed, and so is a stream whose client hangs up', async () => {
  const refused = await world.chat({ messages: [] });
  expect(await world.row(refused)).toMatchObject({ outcome: 'refused', status: 400 });
  const door = gate();
  world.upstream.respond(chat({ content: ['a', 'b', 'c'], gate: door }));
  const leave = new AbortController();
  const asked = world.chat({ stream: true }, { signal: leave.signal });
  await door.step();
  await door.step();
  const answer = await asked;
  leave.abort();
  const row = await world.row(answer);
  expect(row).toMatchObject({ outcome: 'hung_up', stream: true });
  expect(BigInt(row.cost_nano_eur)).toBeGreaterThan(0n);
});

test('1/16 1/17 a key is of a workload, whose models, budget and policy are its own', async () => {
  expect((await world.row(await world.chat({}, { as: 'open' }))).workload).toBe('default/open');
  expect((await world.chat({ model: 'openai/gpt-5.4' }, { as: 'listed' })).status).toBe(403);
  expect((await world.chat({ model: 'openai/gpt-5.4' }, { as: 'open' })).status).toBe(200);
  expect((await world.chat({}, { as: 'strict-0' })).status).toBe(402);
  expect((await world.row(await world.chat({}, { as: 'masking' }))).dlp.mode).toBe('mask');
});

test('1/18 1/21 what the organization allows holds on top of what its workload does, jurisdictions first', async () => {
  const asking = bearer(strictKey);
  expect((await world.chat({}, asking)).status).toBe(403);
  expect((await world.chat({ model: 'swiss/m' }, asking)).status).toBe(200);
});

test('1/19 the modes let pass, take tokens, mask and block', async () => {
  const ask = async (as: string): Promise<unknown> => {
    const answer = await world.chat({ messages: [{ role: 'user', content: `Write to ${MAIL}` }] }, { as });
    const sent = answer.status === 200 ? world.upstream.requests.at(-1)?.body : '';
    return [answer.status, (await world.row(answer)).dlp.mode, /«EMAIL|ada@|\[EMAIL/.exec(sent ?? '')?.[0]];
  };
  expect(await ask('open')).toEqual([200, 'allow_log', 'ada@']);
  expect(await ask('tokenizing')).toEqual([200, 'tokenize', '«EMAIL']);
  expect(await ask('blocking')).toEqual([422, 'block', undefined]);
  const masked = await world.chat({ messages: [{ role: 'user', content: MAIL }] }, { as: 'masking' });
  expect(masked.status).toBe(200);
  expect(world.upstream.requests.at(-1)?.body).not.toContain('ada@');
});

test('1/22 1/23 2.2/13 gw.remove takes terms out of any JSON body, and does not leave', async () => {
  for (const [path, body] of SURFACES) {
    for (const extension of [{ gw: { remove: ['Falcon'] } }, { 'gw.remove': ['Falcon'] }]) {
      const model = path.includes('moderations') || path.includes('embeddings') ? 'openai/m' : 'openai/gpt-5.4';
      const answer = await world.post(path, { model, ...body('Project Falcon is late'), ...extension }, { as: 'open' });
      expect([path, answer.status]).toEqual([path, 200]);
      const sent = world.providers.seen.at(-1)?.body.toString('utf8') ?? '';
      expect(sent).not.toMatch(/Falcon|"gw/);
      expect(sent).toMatch(/Project «[A-Z_]+_1» is late/);
    }
  }
});

test('1/22 1/23 also out of bodies of text recognition, pictures, speech, video, decisions and what is passed on', async () => {
  typed();
  const about = 'Falcon is late';
  const document = { type: 'document_url', document_url: 'https://letters.example/a.pdf' };
  world.answers.set('openai', ({ path }) => (path.endsWith('/videos') ? { body: { object: 'video' } } : undefined));
  world.upstream.respond(text('{}', { headers: { 'content-type': 'application/json' } }));
  const bodies: readonly (readonly [path: string, body: object])[] = [
    ['/v1/ocr', { model: 'mistral/mistral-ocr-latest', document, document_annotation_prompt: about }],
    ['/v1/images/generations', { model: 'openai/gpt-image-1', prompt: about }],
    ['/v1/audio/speech', { model: 'openai/tts-1', voice: 'alloy', input: about }],
    ['/v1/videos', { model: 'openai/sora-2', prompt: about, seconds: '4' }],
    ['/v1/systemone', { model: 'gw/typed', state: about, questions: { q } }],
    ['/v1/fim/completions', { model: 'upstream/m', prompt: about }],
  ];
  for (const [path, body] of bodies) {
    for (const extension of [{ gw: { remove: ['Falcon'] } }, { 'gw.remove': ['Falcon'] }]) {
      const seen = [world.providers.seen.length, world.upstream.requests.length, world.models.asked.length] as const;
      const answer = await world.post(path, { ...body, ...extension }, { as: 'open' });
      expect([path, answer.status]).toEqual([path, 200]);
      const sent = [
        ...world.providers.seen.slice(seen[0]).map((one) => one.body.toString('utf8')),
        ...world.upstream.requests.slice(seen[1]).map((one) => one.body),
        ...world.models.asked.slice(seen[2]).map((one) => JSON.stringify(one.body)),
      ].join('\n');
      expect([path, /Falcon|"gw/.exec(sent)?.[0], sent.includes('_1» is late')]).toEqual([path, undefined, true]);
    }
  }
});

test('1/24 2.2/13 a row says how it was served, the wire format, the provider and the id of the request', async () => {
  const answer = await world.chat({ model: 'anthropic/claude-sonnet-4-6' });
  expect(await world.row(answer)).toMatchObject({
    cache_hit: 'none',
    wire_format: 'messages',
    provider: 'anthropic',
    provider_model: 'claude-sonnet-4-6',
    call_id: answer.headers.get('x-request-id'),
  });
});

test('4/1 4/2 paths are below the address of the gateway, and bodies are JSON', async () => {
  const headers = { 'content-type': 'text/plain' };
  expect((await world.post('/v1/chat/completions', { model: 'upstream/m', messages: HI }, { headers })).status).toBe(
    415,
  );
  expect((await world.chat()).headers.get('content-type')).toContain('application/json');
});

test('4.5/9 /v1/mcp is there in the place of mcp_servers', async () => {
  const answer = await world.post('/v1/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' });
  expect(answer.status).toBe(200);
});
