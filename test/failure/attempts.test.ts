import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { brokenJson, chat, cutOff, hang, json, notHttp, text } from '../harness/answers.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { startStack, type Stack } from './stack.ts';

/** What goes wrong upstream -> what the client is told, how often was asked, what was sealed and billed. */

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ provider: { retry: { attempts: 5 } } });
}, 60_000);
afterAll(() => stack[Symbol.asyncDispose]());

let before = 0;
beforeEach(() => {
  before = stack.upstream.requests.length;
});
const asked = () => stack.upstream.requests.length - before;

interface Failure {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly gw: {
      readonly cause: string;
      readonly attempts: readonly { readonly status?: number; readonly error?: string }[];
    };
  };
}

const busy = (headers: Record<string, string> = {}) => json({ error: { message: 'slow down' } }, 429, headers);
const good = chat({ content: 'ok', usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } });

describe('recovers within three attempts', () => {
  test.each([
    [
      'a reset, then a 500',
      [cutOff('reset'), json({ error: { message: 'x' } }, 500), good],
      [{ error: 'reset' }, { status: 500 }, { status: 200 }],
    ],
    ['a 429 with retry-after-ms', [busy({ 'retry-after-ms': '20' }), good], [{ status: 429 }, { status: 200 }]],
    ['a 503 page of HTML', [text('<h1>Busy</h1>', { status: 503 }), good], [{ status: 503 }, { status: 200 }]],
  ] as const)('%s', async (_name, script, attempts) => {
    stack.upstream.respond([...script] as never);
    const answer = await stack.ask({ max_tokens: 10 });
    expect(answer.status).toBe(200);
    const row = await rowOf(stack.databaseUrl, answer.headers.get('x-request-id'));
    expect(row.attempts).toMatchObject(attempts);
    expect(row).toMatchObject({ outcome: 'served', cost_nano_eur: String(10 * 2000 + 8000) });
  });
});

describe('an optional member that the provider refuses by name', () => {
  const refused = json({ error: { message: "Unsupported parameter: 'seed' is not supported with this model." } }, 400);
  const body = (index: number) => JSON.parse(stack.upstream.requests[before + index]!.body) as Record<string, unknown>;

  test('is left out, named as a loss, and not sent again to that model', async () => {
    stack.upstream.respond([refused, good]);
    const answer = await stack.ask({ model: 'upstream/learner', seed: 7, max_tokens: 10 });
    expect(answer.status).toBe(200);
    expect([body(0)['seed'], body(1)['seed'], body(1)['max_tokens']]).toEqual([7, undefined, 10]);
    const row = await rowOf(stack.databaseUrl, answer.headers.get('x-request-id'));
    expect(row).toMatchObject({ losses: ['seed'], attempts: [{ status: 400 }, { status: 200 }] });
    await stack.ask({ model: 'upstream/learner', seed: 7 });
    expect(body(2)).not.toHaveProperty('seed');
    await stack.ask({ model: 'upstream/other', seed: 7 });
    expect(body(3)).toHaveProperty('seed');
  });

  test('costs one attempt more at most, and the words stay the provider’s', async () => {
    stack.upstream.respond(refused);
    const answer = await stack.ask({ model: 'upstream/stubborn', seed: 7 });
    expect([answer.status, asked()]).toEqual([400, 2]);
    expect(((await answer.json()) as Failure).error.message).toContain("'seed' is not supported");
  });

  test.each([
    ['a member that decides', "Unsupported parameter: 'messages'", {}],
    ['a member that was not sent', "Unsupported parameter: 'seed'", {}],
    ['a value, not a member', 'temperature must be at most 1', { temperature: 1.5 }],
  ])('%s is not dropped', async (_name, message, more) => {
    stack.upstream.respond(json({ error: { message } }, 400));
    const answer = await stack.ask({ model: 'upstream/strict', ...more });
    expect([answer.status, asked()]).toEqual([400, 1]);
  });
});

describe('gives up', () => {
  test.each([
    ['after three attempts, whatever the provider allows', json({ error: { message: 'x' } }, 500), 502, 3, 'status'],
    ['at once when the provider asks for a long wait', busy({ 'retry-after': '60' }), 503, 1, 'overloaded'],
    ['after a connection that is cut each time', cutOff('fin'), 502, 3, 'reset'],
    ['on what is not HTTP', notHttp(), 502, 1, 'protocol'],
    [
      'on a body that is not JSON',
      text('garbage', { headers: { 'content-type': 'application/json' } }),
      502,
      1,
      'protocol',
    ],
    ['on an answer without choices', json({ id: 'x', choices: [] }), 502, 1, 'protocol'],
    [
      'on a body cut in the middle',
      brokenJson({ choices: [{ message: { content: 'x'.repeat(100) } }] }, 50),
      502,
      1,
      'reset',
    ],
    [
      'on credentials refused',
      json({ error: { message: 'Incorrect API key provided: sk-secret' } }, 401),
      502,
      1,
      'credentials',
    ],
  ] as const)('%s', async (_name, script, status, times, cause) => {
    stack.upstream.respond(script);
    const answer = await stack.ask();
    expect(answer.status).toBe(status);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    const { error } = (await answer.json()) as Failure;
    expect(error.gw.cause).toBe(cause);
    expect(error.gw.attempts).toHaveLength(times);
    expect(asked()).toBe(times);
    expect(error.message).not.toContain('sk-secret');
    const row = await rowOf(stack.databaseUrl, answer.headers.get('x-request-id'));
    expect(row).toMatchObject({ outcome: 'failed', step: 'dispatch', status, reason: cause });
    expect(row.attempts).toHaveLength(times);
  });

  test('a wait asked for is passed on', async () => {
    stack.upstream.respond(busy({ 'retry-after': '60' }));
    expect((await stack.ask()).headers.get('retry-after')).toBe('60');
  });

  test('never asks again after a timeout', async () => {
    stack.upstream.respond(hang());
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${stack.key}`,
      'x-gw-upstream-timeout': '1',
    };
    expect((await stack.ask({}, { headers })).status).toBe(504);
    expect(asked()).toBe(1);
  });

  test('says that nobody is there', async () => {
    await stack.upstream.down();
    const answer = await stack.ask();
    const { error } = (await answer.json()) as Failure;
    await stack.upstream.up();
    expect(answer.status).toBe(502);
    expect(error.gw).toMatchObject({
      cause: 'connect',
      attempts: [{ error: 'connect' }, { error: 'connect' }, { error: 'connect' }],
    });
    expect(JSON.stringify(error)).not.toContain('127.0.0.1');
  });
});

test('nothing of the request, the key or the provider’s words is in the log', () => {
  const log = stack.gateway.log.join('\n');
  for (const secret of [stack.key, 'Hello', 'slow down', 'sk-secret', 'garbage']) expect(log).not.toContain(secret);
});

test('an answer nested deeper than a translation can go is the provider’s fault', async () => {
  const deep = `${'[{"a":'.repeat(100_000)}1${'}]'.repeat(100_000)}`;
  const call = `{"id":"c","type":"function","function":{"name":"f","arguments":{"x":${deep}}}}`;
  const answer = `{"id":"x","choices":[{"message":{"tool_calls":[${call}]},"finish_reason":"tool_calls"}]}`;
  stack.upstream.respond(text(answer, { headers: { 'content-type': 'application/json' } }));
  const told = await fetch(`${stack.gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': stack.key },
    body: JSON.stringify({ model: 'upstream/m', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }),
  });
  expect([told.status, await told.json()]).toMatchObject([502, { type: 'error', error: { type: 'api_error' } }]);
});
