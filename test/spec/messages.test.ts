import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { chat, json, sse, text } from '../harness/answers.ts';
import type { Frame } from '../harness/frames.ts';
import { newKey, resource } from '../harness/gateway.ts';
import { parseSse } from '../harness/sse.ts';
import { at, type Body } from '../matrix/vocabulary.ts';
import { bearer, organization, startSpecWorld, type SpecWorld } from './world.ts';

/** Sections 2.7, 4.5 and 6.2, and what 9 says of headers: the messages surface. */

const cloudKey = newKey();
const CLAUDE = 'anthropic/claude-sonnet-4-6';

let world: SpecWorld;
beforeAll(async () => {
  world = await startSpecWorld({
    applications: {
      open: { policy: { dlp: { mode: 'AllowLog' }, caching: { promptCache: 'Enabled' } } },
      tokenizing: { policy: { dlp: { mode: 'Tokenize' } } },
      swiss: { policy: { residency: { allowedJurisdictions: ['CH'] } } },
    },
    prices: [{ model: 'house/*', input: '2', output: '8' }],
    more: ({ upstream }) => [
      ...organization('clouded', cloudKey, { messagesDefaultProvider: 'vertex-claude' }),
      resource('Provider', 'house', {
        slug: 'house',
        protocol: 'Messages',
        endpoint: { url: upstream, allowInsecure: true },
        jurisdiction: 'EU',
      }),
      resource('ModelAlias', 'any', { alias: 'gw/any', strategy: 'Failover', targets: [{ model: 'upstream/m' }] }),
    ],
  });
}, 60_000);
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(() => {
  world.answers.clear();
  world.upstream.respond(chat({ content: 'Hello.' }));
});

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'stop_sequence',
  stop_sequence: 'END',
  usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 4 },
};
const cache_control = { type: 'ephemeral', ttl: '1h' };
const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
const DOCUMENT = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'A letter.' } };
const THINKING = { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' };
const REDACTED = { type: 'redacted_thinking', data: 'b3BhcXVl' };
const CALL = { type: 'tool_use', id: 'toolu_1', name: 'find', input: { what: 'it' } };
const TOOL = { name: 'find', description: 'Finds.', input_schema: { type: 'object' }, cache_control };
/** All that a request of the surface may hold. */
const FULL = {
  max_tokens: 4000,
  system: [{ type: 'text', text: 'Be kind.', cache_control }],
  tools: [TOOL],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Look.', cache_control }, IMAGE, DOCUMENT] },
    { role: 'assistant', content: [THINKING, REDACTED, CALL] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [{ type: 'text', text: 'No.' }, IMAGE],
          is_error: true,
        },
      ],
    },
  ],
};
const sentTo = (kind: string): Body => world.sentTo(kind).at(-1) ?? {};
const toHouse = (): Body => JSON.parse(world.upstream.requests.at(-1)?.body ?? '{}') as Body;
const told = async (answer: Promise<Response>): Promise<Body> => {
  const got = await answer;
  expect(got.status).toBe(200);
  return (await got.json()) as Body;
};

test('2.7/1 4.5/15 a request with all that the surface has reaches the vendor as it is, and any other provider in its words', async () => {
  world.upstream.respond(json(MESSAGE));
  await told(world.message({ model: 'house/m', ...FULL }, { as: 'open' }));
  expect(toHouse()).toEqual({ model: 'm', ...FULL });
  for (const system of ['Be kind.', FULL.system]) {
    await told(world.message({ model: CLAUDE, ...FULL, system }, { as: 'open' }));
    expect(sentTo('anthropic')).toMatchObject({ system, messages: FULL.messages });
    await told(world.message({ model: 'openai/gpt-5.4', ...FULL, system }, { as: 'open' }));
    const sent = JSON.stringify(sentTo('openai'));
    for (const kept of ['Be kind.', 'Look.', 'iVBORw0KGgo=', 'A letter.', '"name":"find"', 'No.']) {
      expect(sent).toContain(kept);
    }
  }
});

test('2.7/2 fields and blocks that nobody knows are tolerated', async () => {
  world.upstream.respond(json(MESSAGE));
  const content = [
    { type: 'text', text: 'Hi' },
    { type: 'hologram', depth: 3 },
  ];
  const body = { weather: { sky: 'blue' }, messages: [{ role: 'user', content }] };
  await told(world.message({ model: 'house/m', ...body }, { as: 'open' }));
  expect(toHouse()).toMatchObject(body);
  world.upstream.respond(chat({ content: 'Hello.' }));
  await told(world.message(body, { as: 'open' }));
});

test('2.7/5 2.7/6 2.7/7 2.7/8 2.7/9 2.7/10 2.7/11 2.7/12 an answer has every field, whoever gave it', async () => {
  for (const model of ['upstream/m', CLAUDE, 'gemini/gemini-3-flash', 'openai/gpt-5.4']) {
    const answer = await told(world.message({ model }));
    expect(answer).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn', stop_sequence: null });
    expect([typeof answer['id'], typeof answer['model']]).toEqual(['string', 'string']);
    expect(answer['content']).toContainEqual(expect.objectContaining({ type: 'text', text: 'Hello.' }));
    expect(Number.isInteger(at(answer, 'usage', 'input_tokens'))).toBe(true);
    expect(Number.isInteger(at(answer, 'usage', 'output_tokens'))).toBe(true);
  }
  for (const model of ['upstream/m', 'gemini/gemini-3-flash']) {
    expect(at(await told(world.message({ model })), 'usage')).toMatchObject({
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    });
  }
  world.upstream.respond(json(MESSAGE));
  expect(await told(world.message({ model: 'house/m', stop_sequences: ['END'] }))).toEqual(MESSAGE);
});

test('4.5/1 4.5/3 any model is reached in this format; a prefix pins the provider, an alias chooses', async () => {
  for (const [model, provider] of [
    ['groq/openai/gpt-oss-120b', 'groq'],
    ['gemini/gemini-3-flash', 'gemini'],
    [CLAUDE, 'anthropic'],
    ['gw/any', 'upstream'],
  ] as const) {
    const answer = await world.message({ model });
    expect([model, answer.status, (await world.row(answer)).provider]).toEqual([model, 200, provider]);
  }
  expect((await world.message({ model: 'gw/any' }, { as: 'swiss' })).status).toBe(403);
});

test('4.5/2 a bare id is a model of the vendor, or of the provider that the organization names; residency decides then', async () => {
  const asked = async (asking: object): Promise<unknown> => {
    const answer = await world.message({ model: 'claude-sonnet-4-6' }, asking);
    return [answer.status, (await world.row(answer)).provider];
  };
  expect(await asked({})).toEqual([200, 'anthropic']);
  expect(await asked(bearer(cloudKey))).toEqual([200, 'vertex-claude']);
  expect((await world.message({ model: 'claude-sonnet-4-6' }, { as: 'swiss' })).status).toBe(403);
});

const VERSION = { 'vendor-version': '2023-06-01' };
interface Page {
  readonly data: readonly { readonly id: string; readonly display_name: string; readonly created_at: string }[];
  readonly has_more: boolean;
  readonly first_id: string;
  readonly last_id: string;
}
const page = async (path: string, headers: Record<string, string> = VERSION): Promise<Page> =>
  (await told(world.get(path, { headers }))) as unknown as Page;

test('4.5/4 4.5/5 4.5/6 4.5/17 models in the vendor shape: ids with their provider, a fixed time, pages by cursors', async () => {
  const before = world.upstream.requests.length + world.providers.seen.length;
  const all = await page('/v1/models?limit=1000');
  expect(Object.keys(all).sort()).toEqual(['data', 'first_id', 'has_more', 'last_id']);
  for (const { id, display_name, created_at } of all.data) {
    expect(id).toMatch(/^[^/]+\/.+/);
    expect(display_name).not.toBe('');
    expect(created_at).toBe(all.data[0]?.created_at);
  }
  const first = await page('/v1/models?limit=2');
  expect([first.data.length, first.has_more, first.last_id]).toEqual([2, true, all.data[1]?.id]);
  const next = await page(`/v1/models?limit=2&after_id=${encodeURIComponent(first.last_id)}`);
  expect(next.data.map(({ id }) => id)).toEqual(all.data.slice(2, 4).map(({ id }) => id));
  const back = await page(`/v1/models?limit=2&before_id=${encodeURIComponent(next.first_id)}`);
  expect(back.data).toEqual(first.data);
  const one = await told(world.get(`/anthropic/v1/models/${CLAUDE}`));
  expect(one).toMatchObject({ type: 'model', id: CLAUDE });
  expect(world.upstream.requests.length + world.providers.seen.length).toBe(before);
});

test('4.5/7 nobody is asked for a list of models', async () => {
  const before = world.upstream.requests.length + world.providers.seen.length;
  for (const path of ['/v1/models', '/anthropic/v1/models']) expect((await world.get(path)).status).toBe(200);
  expect(world.upstream.requests.length + world.providers.seen.length).toBe(before);
});

test('4.1/18 4.5/8 9/4 the header chooses the shape at the root, and /anthropic has the vendor’s always', async () => {
  const shape = async (path: string, headers: Record<string, string> = {}): Promise<boolean> =>
    'has_more' in (await page(path, headers));
  expect(await shape('/v1/models')).toBe(false);
  expect(await shape('/v1/models', VERSION)).toBe(true);
  expect(await shape('/anthropic/v1/models')).toBe(true);
  expect(await shape('/anthropic/v1/models', VERSION)).toBe(true);
});

test('4.5/10 4.5/11 what is the vendor’s alone reaches its family, and is dropped elsewhere, never refused', async () => {
  const asking = { as: 'open', headers: { 'vendor-beta': 'context-management-2025-06-27' } };
  world.upstream.respond(json(MESSAGE));
  expect(await told(world.message({ model: 'house/m', ...FULL, stop_sequences: ['END'] }, asking))).toMatchObject({
    stop_sequence: 'END',
  });
  expect(toHouse()).toMatchObject({ messages: FULL.messages, system: FULL.system });
  expect(world.upstream.requests.at(-1)?.headers['anthropic-beta']).toBe('context-management-2025-06-27');
  const answer = await world.message({ model: 'mistral/mistral-large-4', ...FULL }, asking);
  expect([answer.status, answer.ok ? '' : await answer.text()]).toEqual([200, '']);
  expect(JSON.stringify(sentTo('mistral'))).not.toMatch(/cache_control|redacted_thinking|c2lnbmVk|b3BhcXVl/);
  expect(JSON.stringify(world.providers.seen.at(-1)?.headers)).not.toContain('context-management');
});

test('4.5/12 signed and redacted thinking goes as it is; what data protection flags is dropped, not masked', async () => {
  world.upstream.respond(json(MESSAGE));
  const flagged = { type: 'thinking', thinking: 'Mail ada@example.com', signature: 'c2ln' };
  const assistant = [flagged, THINKING, REDACTED, { type: 'text', text: 'Yes.' }];
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: assistant },
    { role: 'user', content: 'Go on' },
  ];
  await told(world.message({ model: 'house/m', messages }, { as: 'tokenizing' }));
  expect(at(toHouse(), 'messages', 1, 'content')).toEqual(assistant.slice(1));
});

test('4.5/13 outside the family of the vendor stop_sequence is null', async () => {
  world.upstream.respond(chat({ content: 'One', finishReason: 'stop' }));
  expect(await told(world.message({ stop_sequences: ['END'] }))).toMatchObject({ stop_sequence: null });
});

test('4.5/19 4.5/20 4.5/22 batches, files, skills, agents and administration are not there below /anthropic', async () => {
  for (const path of ['messages/batches', 'files', 'skills', 'agents', 'organizations/usage_report/messages']) {
    expect((await world.post(`/anthropic/v1/${path}`, {})).status, path).toBe(404);
  }
  await told(world.message({ model: CLAUDE, messages: [{ role: 'user', content: [DOCUMENT] }] }, { as: 'open' }));
});

test('9/5 beta flags, unknown ones too, and ?beta=true are taken; flags go byte for byte to the family of the vendor only', async () => {
  const flags = 'interleaved-thinking-2025-05-14,who-knows-2030-01-01';
  const headers = { 'vendor-beta': flags };
  world.upstream.respond(json(MESSAGE));
  const body = { model: 'house/m', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] };
  await told(world.post('/v1/messages?beta=true', body, { headers }));
  expect(world.upstream.requests.at(-1)?.headers['anthropic-beta']).toBe(flags);
  await told(world.post('/v1/messages?beta=true', { ...body, model: 'groq/openai/gpt-oss-120b' }, { headers }));
  expect(JSON.stringify(world.providers.seen.at(-1)?.headers)).not.toContain('who-knows');
  for (const path of ['/v1/messages/count_tokens?beta=true', '/anthropic/v1/messages/count_tokens?beta=true']) {
    await told(world.post(path, body, { headers }));
  }
  await told(world.get('/anthropic/v1/models?beta=true', { headers }));
});

const events = async (body: object, asking: object = {}): Promise<readonly Body[]> => {
  const answer = await world.message({ stream: true, ...body }, asking);
  expect(answer.status).toBe(200);
  return parseSse(new Uint8Array(await answer.arrayBuffer())).flatMap((one) => {
    if (one.type !== 'event') return [];
    const data = JSON.parse(one.data) as Body;
    expect(one.event).toBe(data['type']);
    return [data];
  });
};
const types = (all: readonly Body[]): readonly unknown[] =>
  all.map(({ type }) => type).filter((type) => type !== 'ping');

test('6.2/1 events come in their order, with the tokens of the input first and all usage at the end', async () => {
  const usage = {
    prompt_tokens: 21,
    completion_tokens: 5,
    total_tokens: 26,
    prompt_tokens_details: { cached_tokens: 4 },
  };
  const tool = { id: 'call_1', name: 'find', arguments: '{"what":"it"}' };
  world.upstream.respond(chat({ content: ['Hel', 'lo.'], toolCalls: [tool], usage }));
  const tools = [{ name: 'find', input_schema: { type: 'object' } }];
  const all = await events({ tools });
  expect(types(all)).toEqual([
    'message_start',
    ...['content_block_start', 'content_block_delta', 'content_block_delta', 'content_block_stop'],
    ...['content_block_start', 'content_block_delta', 'content_block_stop'],
    'message_delta',
    'message_stop',
  ]);
  expect(Number(at(all[0], 'message', 'usage', 'input_tokens'))).toBeGreaterThan(0);
  const delta = all.find(({ type }) => type === 'message_delta');
  expect(delta).toMatchObject({
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { input_tokens: 17, cache_read_input_tokens: 4, cache_creation_input_tokens: 0, output_tokens: 5 },
  });
});

const event = (type: string, more: object = {}): Frame => ({ event: type, data: { type, ...more } });
const THOUGHT = [
  event('message_start', { message: { ...MESSAGE, content: [], stop_reason: null, stop_sequence: null } }),
  event('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
  event('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } }),
  event('content_block_delta', { index: 0, delta: { type: 'signature_delta', signature: 'c2lnbmVk' } }),
  event('content_block_stop', { index: 0 }),
  event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: MESSAGE.usage }),
  event('message_stop'),
];

test('6.2/2 6.2/3 6.2/4 6.2/5 deltas carry text, arguments of tools, thinking and signatures', async () => {
  const tool = { id: 'call_1', name: 'find', arguments: ['{"what":', '"it"}'] };
  world.upstream.respond(chat({ content: ['Hel', 'lo.'], toolCalls: [tool] }));
  const deltas = async (body: object): Promise<string> =>
    JSON.stringify((await events(body)).map((one) => at(one, 'delta')).filter((one) => at(one, 'type') !== undefined));
  const said = JSON.parse(await deltas({ tools: [{ name: 'find', input_schema: { type: 'object' } }] })) as Body[];
  const joined = (type: string, member: string): string =>
    said
      .filter((one) => one['type'] === type)
      .map((one) => String(one[member]))
      .join('');
  expect(joined('text_delta', 'text')).toBe('Hello.');
  expect(joined('input_json_delta', 'partial_json')).toBe('{"what":"it"}');
  world.upstream.respond(sse(THOUGHT));
  expect(await deltas({ model: 'house/m' })).toBe(
    '[{"type":"thinking_delta","thinking":"Hm."},{"type":"signature_delta","signature":"c2lnbmVk"}]',
  );
});

test('6.2/6 a ping follows message_start', async () => {
  const all = (await events({})).map(({ type }) => type);
  expect(all.slice(0, 2)).toEqual(['message_start', 'ping']);
});

test('6.2/7 a failure in mid-stream is an error event', async () => {
  world.upstream.respond(chat({ content: ['a', 'b'], finishReason: null, done: false }));
  for (const model of ['upstream/m', 'house/m']) {
    if (model === 'house/m') world.upstream.respond(sse(THOUGHT.slice(0, 3), { ending: 'reset' }));
    const last = (await events({ model })).at(-1);
    expect(last).toMatchObject({ type: 'error', error: { type: expect.any(String) as string } });
  }
});

test('4.5/15 a stream of the vendor passes event by event', async () => {
  world.upstream.respond(
    text(
      THOUGHT.map((one) => `event: ${String(at(one, 'event'))}\ndata: ${JSON.stringify(at(one, 'data'))}\n\n`).join(''),
      { headers: { 'content-type': 'text/event-stream' } },
    ),
  );
  expect(types(await events({ model: 'house/m' }))).toEqual(THOUGHT.map((one) => at(one, 'event')));
});
