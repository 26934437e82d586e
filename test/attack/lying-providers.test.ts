import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { json, sse } from '../harness/answers.ts';
import type { Answer } from '../harness/exchange.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { tally } from './tally.ts';

/** What a provider says that a call used is billed where it can be true of what was sent and seen, and nowhere else. */

const tried = tally('usage that providers make up');
const key = newKey();
const SAID = 'Hello.';
/** Nano-euro for 60 tokens in at 2 EUR a million, and as many out at 8: more than our own count of these calls. */
const MOST_COST = 60n * 2000n + 60n * 8000n;
let upstream: Upstream;
let gateway: GatewayProcess;
let databaseUrl: string;

beforeAll(async () => {
  upstream = await startUpstream();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  gateway = await startGateway({
    resources: [
      ...tenant({ upstreamUrl: upstream.url, key }),
      resource('Provider', 'claude', {
        slug: 'claude',
        protocol: 'Messages',
        endpoint: { url: upstream.url, allowInsecure: true },
        jurisdiction: 'EU',
      }),
      resource('Provider', 'openai', {
        slug: 'openai',
        vendor: 'openai',
        endpoint: { url: upstream.url, allowInsecure: true },
        jurisdiction: 'EU',
        credentials: [{ name: 'k', type: 'APIKey', secretKeyRef: { name: 'accounts', key: 'k' } }],
      }),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'accounts', namespace: 'default' },
        stringData: { k: 'an-account' },
      },
      resource('PriceBook', 'prices', {
        prices: ['upstream/*', 'claude/*', 'openai/*'].map((model) => ({ model, input: '2', output: '8' })),
      }),
    ].filter((one, index, all) => all.findLastIndex((other) => nameOf(other) === nameOf(one)) === index),
    redisUrl: inject('redisUrl'),
    databaseUrl,
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

function nameOf(one: object): string {
  const { kind, metadata } = one as { kind: string; metadata: { name: string } };
  return `${kind}/${metadata.name}`;
}

type Counts = readonly [input: unknown, output: unknown];
interface Lane {
  readonly surface: 'chat' | 'messages' | 'responses' | 'completions';
  readonly provider: 'upstream' | 'claude' | 'openai';
  readonly stream: boolean;
}

/** Who serves a surface: in its own format, or in another that is translated. `openai` speaks that of responses. */
const SERVED = {
  chat: ['upstream', 'claude'],
  messages: ['upstream', 'claude'],
  responses: ['upstream', 'claude', 'openai'],
  completions: ['upstream'],
} as const;
const PATHS = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
  completions: '/v1/completions',
} as const;

const LANES: readonly Lane[] = (Object.keys(SERVED) as (keyof typeof SERVED)[]).flatMap((surface) =>
  SERVED[surface].flatMap((provider) => [true, false].map((stream) => ({ surface, provider, stream }))),
);
const LIES: readonly Counts[] = [
  [1e18, 1],
  [9, 1e18],
  [1e9, 1e9],
  [100_000, 1],
  [9, 100_000],
  [0, 0],
  [0, 3],
  [9, 0],
  [-9, 3],
  [9, -3],
  [9.5, 3],
  [9, 3.5],
  ['9', 3],
  [9, '3'],
  [1e300, 1e300],
];

function answer(lane: Lane, counts: Counts): Answer {
  const { surface, provider, stream } = lane;
  const [input, output] = counts;
  if (provider === 'openai') return responseOf(stream, { input_tokens: input, output_tokens: output });
  const finish = { index: 0, finish_reason: 'stop' };
  if (surface === 'completions') {
    const usage = { prompt_tokens: input, completion_tokens: output };
    const whole = { id: 'c', object: 'text_completion', choices: [{ ...finish, text: SAID }] };
    return stream
      ? sse([{ data: whole }, { data: { ...whole, choices: [], usage } }, { data: '[DONE]' }])
      : json({ ...whole, usage });
  }
  if (provider === 'upstream') {
    const usage = { prompt_tokens: input, completion_tokens: output };
    if (!stream)
      return json({ id: 'c', choices: [{ ...finish, message: { role: 'assistant', content: SAID } }], usage });
    return sse([
      { data: { id: 'c', choices: [{ ...finish, finish_reason: null, delta: { content: SAID } }] } },
      { data: { id: 'c', choices: [{ ...finish, delta: {} }] } },
      { data: { id: 'c', choices: [], usage } },
      { data: '[DONE]' },
    ]);
  }
  const usage = { input_tokens: input, output_tokens: output };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: null, stop_sequence: null };
  if (!stream) return json({ ...message, content: [{ type: 'text', text: SAID }], stop_reason: 'end_turn', usage });
  const events: { readonly type: string }[] = [
    { type: 'message_start', message: { ...message, content: [], usage } } as never,
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as never,
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: SAID } } as never,
    { type: 'content_block_stop', index: 0 } as never,
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage } as never,
    { type: 'message_stop' },
  ];
  return sse(events.map((data) => ({ event: data.type, data })));
}

function responseOf(stream: boolean, usage: object): Answer {
  const content = [{ type: 'output_text', text: SAID, annotations: [] }];
  const item = { type: 'message', id: 'i', role: 'assistant', status: 'completed', content };
  const begun = { id: 'resp_1', object: 'response', model: 'm', status: 'in_progress', output: [] as object[] };
  const done = { ...begun, status: 'completed', output: [item], usage };
  if (!stream) return json(done);
  const place = { item_id: 'i', output_index: 0, content_index: 0 };
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.output_text.delta', ...place, delta: SAID },
    { type: 'response.output_text.done', ...place, text: SAID },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: done },
  ];
  return sse(events.map((data) => ({ event: data.type, data })));
}

function bodyOf({ surface, provider, stream }: Lane): object {
  const request = { model: `${provider}/m`, stream };
  const usage = stream &&
    (surface === 'chat' || surface === 'completions') && { stream_options: { include_usage: true } };
  if (surface === 'responses') return { ...request, input: 'Say hello.', max_output_tokens: 100 };
  if (surface === 'completions') return { ...request, ...usage, prompt: 'Say hello.', max_tokens: 100 };
  return { ...request, ...usage, max_tokens: 100, messages: [{ role: 'user', content: 'Say hello.' }] };
}

async function call(lane: Lane, counts: Counts) {
  upstream.respond(answer(lane, counts));
  const response = await fetch(`${gateway.url}${PATHS[lane.surface]}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, connection: 'close' },
    body: JSON.stringify(bodyOf(lane)),
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return { told: toldUsage(text, lane.stream), text };
}

type Told = Readonly<Record<string, number>>;

/** The last usage that a client is told. */
function toldUsage(text: string, stream: boolean): { input: number; output: number } {
  const bodies = stream
    ? text
        .split('\n')
        .filter((line) => line.startsWith('data: {'))
        .map((line) => line.slice(6))
    : [text];
  const told = bodies
    .map((body) => JSON.parse(body) as { usage?: Told | null; response?: { usage?: Told | null } })
    .map(({ usage, response }) => usage ?? response?.usage)
    .findLast((usage) => usage !== undefined && usage !== null)!;
  return {
    input: (told['prompt_tokens'] ?? told['input_tokens'])!,
    output: (told['completion_tokens'] ?? told['output_tokens'])!,
  };
}

async function lastRow() {
  let row;
  await expect
    .poll(
      async () => {
        const rows = await ledgerRows(databaseUrl);
        row = rows.at(-1);
        return rows.length;
      },
      { timeout: 10_000 },
    )
    .toBe(++sealed);
  return row! as unknown as {
    usage: { input: number; output: number };
    usage_source: string;
    cost_nano_eur: string;
  };
}
let sealed = 0;

describe.each(LANES)('$surface of $provider, streamed: $stream', (lane) => {
  test.each(LIES)('%j and %j tokens are not billed', async (...counts) => {
    const { told, text } = await call(lane, counts);
    const { usage, usage_source: source, cost_nano_eur: cost } = await lastRow();
    const name = `${lane.surface} of ${lane.provider}, ${lane.stream ? 'streamed' : 'whole'}: ${counts.join('/')}`;
    const isHeld = source === 'implausible' && BigInt(cost) > 0n && BigInt(cost) <= MOST_COST;
    if (isHeld) tried.held(name);
    else tried.passed(name);
    expect({ source, isHeld }, `${cost} ${text}`).toEqual({ source: 'implausible', isHeld: true });
    expect(told, text).toEqual({ input: usage.input, output: usage.output });
  });

  test('what can be true is billed to the token, the same over all surfaces', async () => {
    const { told } = await call(lane, [9, 3]);
    const row = await lastRow();
    expect(row).toMatchObject({ usage: { input: 9, output: 3 }, usage_source: 'provider' });
    expect(row.cost_nano_eur).toBe(String(9 * 2000 + 3 * 8000));
    expect(told).toEqual({ input: 9, output: 3 });
  });
});

test('every lie is counted in the metrics', async () => {
  const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  const counted = (provider: string) =>
    Number(new RegExp(`gw_usage_implausible_total\\{provider="${provider}"\\} (\\d+)`).exec(metrics)?.[1]);
  for (const provider of ['upstream', 'claude', 'openai']) {
    const lanes = LANES.filter((lane) => lane.provider === provider);
    expect(counted(provider), provider).toBe(lanes.length * LIES.length);
  }
});
