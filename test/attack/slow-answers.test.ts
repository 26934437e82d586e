import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { json, sse, text as body } from '../harness/answers.ts';
import type { Answer } from '../harness/exchange.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { tally } from './tally.ts';

/** What a provider can answer to make the gateway slow or fat: nobody else waits for it, and it does not grow. */

const tried = tally('slow and fat answers of providers');
const key = newKey();
/** A tag of ten characters stands for it, and the policy's label can't be told from any other's. */
const TERM = 'x'.repeat(990);
/** Of processor time, in one turn of the event loop. The first of these took seven seconds. */
const LONGEST_TURN_MS = 1000;
const MANY = 20_000;
const folder = mkdtempSync(join(tmpdir(), 'slow-answers-'));
const record = join(folder, 'turns');
let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    resources: [
      ...tenant({ upstreamUrl: upstream.url, key, policy: { dlp: { mode: 'Tokenize' } } }),
      resource('Provider', 'messages', {
        slug: 'messages',
        protocol: 'Messages',
        endpoint: { url: upstream.url, allowInsecure: true },
        jurisdiction: 'EU',
      }),
    ],
    redisUrl: inject('redisUrl'),
    databaseUrl: await createDatabase(inject('databaseUrl')),
    env: { NODE_OPTIONS: `--import=${new URL('./turn-recorder.ts', import.meta.url).href}`, TURN_RECORD: record },
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Lie {
  readonly name: string;
  /** `chat/upstream`: the surface, and who is asked. */
  readonly route: string;
  readonly answer: Answer;
  readonly buffered?: true;
  /** What the client is told of it; left out: it may be either. */
  readonly told?: 'error' | 'answer';
}

const PROMPT = `Write to ada@corp.de about ${TERM}.`;
const REQUESTS: Readonly<Record<string, { readonly path: string; readonly body: object }>> = {
  chat: { path: '/v1/chat/completions', body: { messages: [{ role: 'user', content: PROMPT }] } },
  messages: { path: '/v1/messages', body: { max_tokens: 99, messages: [{ role: 'user', content: PROMPT }] } },
};

const chunk = (delta: object, index = 0, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index, delta, finish_reason: finish }] })}\n\n`;
const event = (value: { readonly type: string }): string => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
const raw = (text: string): Answer => sse([{ raw: text }]);
const many = (count: number, write: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => write(at)).join('');
const half = (at: number): string => `«EMAIL_${at % 10}`.slice(0, 3 + (at % 5));
const messageStart = event({ type: 'message_start', message: { id: 'm', usage: {} } } as never);
const blockStart = (index: number, content_block: object): string =>
  event({ type: 'content_block_start', index, content_block } as never);
const blockDelta = (index: number, delta: object): string =>
  event({ type: 'content_block_delta', index, delta } as never);
const completion = (content: string): object => ({
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
});
const DONE = chunk({}, 0, 'stop') + 'data: [DONE]\n\n';
const TAGS = '«TERM_1»'.repeat(120_000);

const LIES: readonly Lie[] = [
  {
    name: 'a stream of 20,000 choices nobody asked for',
    route: 'chat/upstream',
    answer: raw(many(MANY, (at) => chunk({ content: half(at) }, at)) + DONE),
    told: 'error',
  },
  {
    name: 'a stream of 20,000 tool calls that each stop inside a tag',
    route: 'chat/upstream',
    answer: raw(
      many(MANY, (index) =>
        chunk({ tool_calls: [{ index, function: { name: 'f', arguments: `{"a":"${half(index)}` } }] }),
      ) + DONE,
    ),
    told: 'error',
  },
  {
    name: 'a stream of 20,000 members of its own that each end',
    route: 'chat/upstream',
    answer: raw(many(MANY, (at) => chunk({ [`m${at}`]: 'a «' }, 0, 'stop')) + DONE),
  },
  {
    name: 'more choices in one answer than asked for',
    route: 'chat/upstream',
    buffered: true,
    answer: json({
      id: 'c',
      choices: Array.from({ length: 500 }, (_, index) => ({ index, message: { content: 'x' } })),
    }),
    told: 'error',
  },
  ...(['upstream', 'messages'] as const).map((provider): Lie => ({
    name: `a stream of 20,000 blocks that never end, of ${provider}`,
    route: `chat/${provider}`,
    answer: raw(
      {
        upstream: many(MANY, (index) =>
          chunk({ tool_calls: [{ index, id: `i${index}`, function: { name: 'f', arguments: '{' } }] }),
        ),
        messages: messageStart + many(MANY, (at) => blockStart(at, { type: 'text', text: half(at) })),
      }[provider],
    ),
    told: 'error',
  })),
  {
    name: 'a stream of 20,000 blocks that stop inside a tag, in the client’s own family',
    route: 'messages/messages',
    answer: raw(messageStart + many(MANY, (at) => blockDelta(at, { type: 'text_delta', text: half(at) }))),
    told: 'error',
  },
  {
    name: 'a block told whole that grows by 20,000 members',
    route: 'chat/messages',
    answer: raw(
      messageStart +
        blockStart(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }) +
        many(MANY, (at) => blockDelta(0, { type: 'x_delta', [`m${at}`]: 1 })) +
        event({ type: 'message_stop' }),
    ),
  },
  { name: 'a megabyte of tags', route: 'chat/upstream', buffered: true, answer: json(completion(TAGS)), told: 'error' },
  {
    name: 'a megabyte of tags in a stream',
    route: 'chat/upstream',
    answer: raw(chunk({ content: TAGS }) + DONE),
    told: 'error',
  },
  {
    name: 'a megabyte of tags in a translated stream',
    route: 'messages/upstream',
    answer: raw(chunk({ content: TAGS }) + DONE),
    told: 'error',
  },
  {
    name: 'a stream of the smallest events',
    route: 'chat/upstream',
    answer: raw('data: {}\n\n'.repeat(400_000) + DONE),
  },
  {
    name: 'a stream of comments',
    route: 'chat/upstream',
    answer: raw(':\n\n'.repeat(1_000_000) + chunk({ content: 'x' }) + DONE),
  },
  {
    name: 'a line without an end',
    route: 'chat/upstream',
    answer: raw(`data: ${'x'.repeat(6_000_000)}`),
    told: 'error',
  },
  {
    name: 'a stream one byte at a time',
    route: 'chat/upstream',
    answer: sse([{ raw: many(20, () => chunk({ content: 'x' })) + DONE }], { splitAt: 'every-byte' }),
    told: 'answer',
  },
  {
    name: 'JSON nested a million deep',
    route: 'chat/upstream',
    buffered: true,
    answer: body(`{"choices":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`),
    told: 'error',
  },
  {
    name: 'JSON nested too deeply for a reader',
    route: 'chat/upstream',
    buffered: true,
    answer: body(`{"choices":[{"message":{"content":${'['.repeat(20_000)}"«EMAIL_1»"${']'.repeat(20_000)}}}]}`),
  },
  {
    name: 'an event nested too deeply for a reader',
    route: 'chat/upstream',
    answer: raw(
      `data: {"choices":[{"index":0,"delta":{"content":${'['.repeat(20_000)}"«"${']'.repeat(20_000)}}}]}\n\n`,
    ),
    told: 'error',
  },
  {
    name: 'ten million tiny values',
    route: 'chat/upstream',
    buffered: true,
    answer: body(`{"choices":[{"message":{"content":"a"}}],"x":[${'[],'.repeat(10_000_000)}0]}`),
    told: 'error',
  },
  {
    name: 'an event of a million members',
    route: 'messages/messages',
    answer: raw(`data: {"type":"x",${many(300_000, (at) => `"m${at}":1,`)}"z":1}\n\n`),
  },
  {
    name: 'usage with 100,000 members',
    route: 'chat/upstream',
    buffered: true,
    answer: json({
      ...completion('a'),
      usage: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`cached_${at}`, at])),
    }),
    told: 'answer',
  },
  {
    name: 'an answer of 70 MB',
    route: 'chat/upstream',
    buffered: true,
    answer: body('x'.repeat(70_000_000)),
    told: 'error',
  },
  {
    name: 'an error of 30 MB',
    route: 'chat/upstream',
    buffered: true,
    answer: body('x'.repeat(30_000_000), { status: 400 }),
    told: 'error',
  },
  {
    name: 'a head of 100 KB',
    route: 'chat/upstream',
    buffered: true,
    answer: json(
      completion('a'),
      200,
      Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`x-h${at}`, 'x'.repeat(1000)])),
    ),
    told: 'error',
  },
  {
    name: 'an answer that says it is compressed',
    route: 'chat/upstream',
    buffered: true,
    answer: body(new Uint8Array([31, 139, 8, 0, 0, 0, 0, 0, 0, 3]), { headers: { 'content-encoding': 'gzip' } }),
    told: 'error',
  },
  {
    name: 'interim answers without end, then none',
    route: 'chat/upstream',
    buffered: true,
    answer: (exchange) => {
      for (let left = 2000; left > 0; left--) exchange.response.writeProcessing();
      exchange.cut('fin');
    },
    told: 'error',
  },
  {
    name: 'trailers that are larger than the answer',
    route: 'chat/upstream',
    answer: (exchange) => {
      exchange.response.writeHead(200, { 'content-type': 'text/event-stream', trailer: 'x-t' });
      exchange.response.write(chunk({ content: 'x' }) + DONE);
      exchange.response.addTrailers(
        Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`x-t${at}`, 'x'.repeat(1000)])),
      );
      exchange.response.end();
    },
  },
];

test.each(LIES)(
  'nobody waits for $name',
  async ({ name, route, answer, buffered, told }) => {
    upstream.respond(answer);
    const [surface = '', provider] = route.split('/');
    const { path, body: request } = REQUESTS[surface]!;
    const since = Date.now();
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, connection: 'close' },
      body: JSON.stringify({ model: `${provider}/m`, stream: buffered !== true, gw: { remove: [TERM] }, ...request }),
    });
    const text = await response.text();
    const longest = await longestTurn(since);
    const isError = response.status >= 400 || /"error":\s*\{/.test(text.slice(-4000));
    const verdict = {
      isSlow: longest > LONGEST_TURN_MS,
      grew: text.length > 24_000_000,
      internal: text.includes('internal_error'),
    };
    if (verdict.isSlow || verdict.grew || verdict.internal) tried.passed(name);
    else tried.held(name);
    expect(verdict, `${name}: a turn took ${Math.round(longest)} ms, ${text.length} characters came`).toEqual({
      isSlow: false,
      grew: false,
      internal: false,
    });
    if (told !== undefined) expect(isError ? 'error' : 'answer', text.slice(-400)).toBe(told);
  },
  120_000,
);

/** Milliseconds of processor time of the event loop's longest turn since then, once what was done has been written down. */
async function longestTurn(since: number): Promise<number> {
  await (await fetch(`${gateway.adminUrl}/livez`)).text();
  await sleep(50);
  const lines = existsSync(record) ? readFileSync(record, 'utf8').split('\n').filter(Boolean) : [];
  const turns = lines.map((line) => JSON.parse(line) as { at: number; ms: number });
  return Math.max(0, ...turns.filter(({ at }) => at >= since).map(({ ms }) => ms));
}
