import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { sse, text } from '../harness/answers.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** Within the messages family nothing is rebuilt: members and events that nobody knew when this was written pass. */

const key = newKey();
let upstream: Upstream;
let gateway: GatewayProcess;
let databaseUrl: string;

beforeAll(async () => {
  upstream = await startUpstream();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  gateway = await startGateway({
    resources: [
      ...tenant({
        upstreamUrl: upstream.url,
        key,
        policy: { dlp: { mode: 'Tokenize' } },
        provider: { slug: 'vendor', protocol: 'Messages' },
        organization: { messagesDefaultProvider: 'vendor' },
        prices: [{ model: 'vendor/*', input: '2', output: '8', cacheRead: '0.2', cacheWritePremium: '0.5' }],
      }),
      resource('Policy', 'cache', {
        targetRefs: [{ kind: 'Organization', name: 'acme' }],
        defaults: { caching: { promptCache: 'Enabled' } },
      }),
    ],
    redisUrl: inject('redisUrl'),
    databaseUrl,
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

function ask(body: string, path = '/v1/messages', headers: Record<string, string> = {}): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key, ...headers },
    body,
  });
}

/** Odd in every way that survives: spelling of numbers, escapes, order, blanks, and members of years to come. */
const REQUEST = `{ "future_option" : {"level":1.0,"ids":[9007199254740993123]} ,"max_tokens":1e2,
 "system":[{"type":"text","text":"Gr\\u00fc\\u00dfe","cache_control":{"type":"ephemeral","ttl":"5m","scope":"new"}}],
 "messages":[
  {"role":"user","content":[{"type":"hologram","points":[0.10,-0],"caption":"hello"},{"type":"text","text":"MAIL"}]},
  {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln+/=="},{"type":"redacted_thinking","data":"b3BhcXVl"},{"type":"text","text":"ok"}]},
  {"role":"user","content":"go on"}],
 "model":"MODEL","tools":[{"type":"teleport_20300101","name":"t","cache_control":{"type":"ephemeral"}}],"stream":STREAM}`;

const request = (model: string, stream: boolean, mail = 'nothing personal'): string =>
  REQUEST.replace('MODEL', model).replace('STREAM', String(stream)).replace('MAIL', mail);

const ANSWER =
  '{"id":"msg_1","type":"message","role":"assistant","model":"m","novel":{"n":1.50},"content":[{"type":"text","text":"h\\u00e9"},{"type":"hologram","x":"«EMAIL_1»"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":4,"cache_read_input_tokens":3,"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":0},"output_tokens":5,"carbon":1.0}}';

const FRAMES = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":4,"cache_read_input_tokens":3,"output_tokens":1},"novel":1.0}}',
  'event: weather\ndata: { "type" : "weather", "sky":"\\u2600" }',
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}',
  'event: ping\ndata: {"type": "ping"}',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"about «EMAIL_1»"}}',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2lnbmVk"}}',
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}',
  'event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"to TAG"}}',
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":1}',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5,"novel":1.0}}',
  'event: message_stop\ndata: {"type":"message_stop"}',
];
const stream = (tag: string): string => FRAMES.map((frame) => `${frame.replace('TAG', tag)}\n\n`).join('');

describe('a request with members nobody knows', () => {
  test.each([
    ['/v1/messages', 'vendor/some-model'],
    ['/anthropic/v1/messages', 'some-model'],
    ['/v1/messages?beta=true', 'some-model'],
  ])('through %s for %s: only the model changes', async (path, model) => {
    upstream.respond(text(ANSWER, { headers: { 'content-type': 'application/json' } }));
    const answer = await ask(request(model, false), path);
    expect([answer.status, await answer.text()]).toEqual([200, ANSWER]);
    expect(upstream.requests.at(-1)!.body).toBe(request('some-model', false));
    expect(answer.headers.get('request-id')).toBe(answer.headers.get('x-request-id'));
    const row = await rowOf(databaseUrl, answer.headers.get('request-id'));
    expect(row).toMatchObject({ surface: 'messages', wire_format: 'messages', provider: 'vendor', losses: [] });
    expect(row.usage).toMatchObject({ input: 10, cacheRead: 3, cacheWrite5m: 4, output: 5 });
    // 10 × 2 + 3 × 0.2 + 4 × 2.5 + 5 × 8 euro per million.
    expect(row.cost_nano_eur).toBe('70600');
  });

  test('with something personal: that and the model change, and the answer is put right', async () => {
    upstream.respond(text(ANSWER, { headers: { 'content-type': 'application/json' } }));
    const answer = await ask(request('vendor/m', false, 'to ada@example.com'));
    expect(await answer.text()).toBe(ANSWER.replace('«EMAIL_1»', 'ada@example.com'));
    expect(upstream.requests.at(-1)!.body).toBe(request('m', false, 'to «EMAIL_1»'));
  });
});

describe('a stream with events nobody knows', () => {
  test.each(['every-byte', undefined] as const)('passes as it came (%s)', async (splitAt) => {
    const frames = FRAMES.map((frame) => ({ raw: `${frame.replace('TAG', 'you')}\n\n` }));
    upstream.respond(sse(frames, splitAt ? { splitAt } : {}));
    const answer = await ask(request('vendor/m', true));
    expect(await answer.text()).toBe(stream('you'));
    const row = await rowOf(databaseUrl, answer.headers.get('request-id'));
    expect(row.usage).toMatchObject({ input: 10, cacheRead: 3, cacheWrite5m: 4, output: 5 });
  });

  test('signed thinking keeps its tags, text is put right', async () => {
    upstream.respond(sse(FRAMES.map((frame) => ({ raw: `${frame.replace('TAG', '«EMAIL_1»')}\n\n` }))));
    const answer = await ask(request('vendor/m', true, 'to ada@example.com'));
    expect(await answer.text()).toBe(stream('ada@example.com'));
  });
});

test('headers of the protocol go on as they came, keys do not', async () => {
  upstream.respond(text(ANSWER, { headers: { 'content-type': 'application/json' } }));
  const beta = 'interleaved-thinking-2025-05-14,who-knows-2030-01-01';
  await ask(request('m', false), '/v1/messages', { 'anthropic-version': '2026-10-21', 'anthropic-beta': beta });
  expect(upstream.requests.at(-1)!.headers).toMatchObject({
    'anthropic-version': '2026-10-21',
    'anthropic-beta': beta,
  });
  expect(JSON.stringify(upstream.requests.at(-1)!.headers)).not.toContain(key);
});

test('a thinking block in which something personal was found is dropped, not masked; an unsigned one too', async () => {
  upstream.respond(text(ANSWER, { headers: { 'content-type': 'application/json' } }));
  const content = [
    { type: 'thinking', thinking: 'write to ada@example.com', signature: 'sig1' },
    { type: 'thinking', thinking: 'fine', signature: 'sig2' },
    { type: 'thinking', thinking: 'of another vendor', signature: '' },
    { type: 'text', text: 'ada@example.com' },
  ];
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content },
    { role: 'user', content: 'go on' },
  ];
  await ask(JSON.stringify({ model: 'm', max_tokens: 5, messages }));
  const sent = JSON.parse(upstream.requests.at(-1)!.body) as { messages: { content: unknown }[] };
  expect(sent.messages[1]!.content).toEqual([content[1], { type: 'text', text: '«EMAIL_1»' }]);
});
