import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { chat, hang, sse } from '../harness/answers.ts';
import { hugeFrame } from '../harness/frames.ts';
import { gate } from '../harness/gate.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { expectBooksToAgree, startStack, type Stack } from './stack.ts';

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.[Symbol.asyncDispose]();
  stack = undefined;
});

const chunk = (content: string) => ({
  data: {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  },
});

/** Reads a stream up to its end, or until `until` has come. */
async function read(answer: Response, until?: string): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of answer.body as AsyncIterable<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true });
    if (until !== undefined && text.includes(until)) break;
  }
  return text;
}

function lastEvent(text: string): { error?: { code: string; type: string; message: string } } {
  const data = text.trimEnd().split('\n\n').at(-1)!;
  return JSON.parse(data.replace(/^data: /, '')) as { error?: { code: string; type: string; message: string } };
}

describe('hang-ups', () => {
  test('abort: the provider is cut at once and what was seen is billed, as estimated', async () => {
    stack = await startStack();
    const { ask, upstream, databaseUrl } = stack;
    const steps = gate();
    upstream.respond(chat({ content: ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)], gate: steps }));
    const hangUp = new AbortController();
    const answering = ask({ stream: true, max_tokens: 1000 }, { signal: hangUp.signal });
    await steps.step();
    await steps.step();
    const answer = await answering;
    await read(answer, 'aaa').finally(() => hangUp.abort());
    const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
    expect(row).toMatchObject({ outcome: 'hung_up', status: 499, usage_source: 'estimated', usage: { output: 10 } });
    expect(BigInt(row.cost_nano_eur)).toBeGreaterThan(0n);
    while (upstream.connections() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await expectBooksToAgree(stack, 1);
  }, 60_000);

  test('drain: the provider is read on to its usage frame and billed exactly', async () => {
    stack = await startStack({ workload: { onHangUp: 'Drain' } });
    const { ask, upstream, databaseUrl } = stack;
    const steps = gate();
    upstream.respond(
      chat({
        content: ['a', 'b', 'c'],
        usage: { prompt_tokens: 21, completion_tokens: 4, total_tokens: 25 },
        gate: steps,
      }),
    );
    const hangUp = new AbortController();
    const answering = ask({ stream: true, max_tokens: 1000 }, { signal: hangUp.signal });
    await steps.step();
    await steps.step();
    const answer = await answering;
    await read(answer, '"content":"a"').finally(() => hangUp.abort());
    // What the gateway answers now, it answers after it has seen the connection close.
    for (let beat = 0; beat < 5; beat++) await (await fetch(`${stack.gateway.adminUrl}/livez`)).text();
    steps.release();
    const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
    expect(row).toMatchObject({ outcome: 'hung_up', usage_source: 'provider', usage: { input: 21, output: 4 } });
  }, 60_000);
});

test('an event over 4 MiB ends a tokenized stream with an error', async () => {
  stack = await startStack({ policy: { dlp: { mode: 'Tokenize' } } });
  const { ask, upstream } = stack;
  upstream.respond(sse([chunk('a'), hugeFrame(4 * 1024 * 1024 + 100)]));
  const text = await read(await ask({ stream: true, messages: [{ role: 'user', content: 'ada@example.com' }] }));
  expect(lastEvent(text).error).toMatchObject({
    code: 'upstream_error',
    message: expect.stringContaining('more than 4 MiB') as string,
  });
}, 60_000);

describe('time', () => {
  test('x-gw-upstream-timeout is whole seconds, cut to what the workload allows', async () => {
    stack = await startStack();
    const { ask, key } = stack;
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    for (const value of ['0', '1.5', 'soon', '-1']) {
      expect((await ask({}, { headers: { ...headers, 'x-gw-upstream-timeout': value } })).status).toBe(400);
    }
    for (const [value, told] of [
      ['300', null],
      ['301', '300'],
      ['999999999', '300'],
    ] as const) {
      const answer = await ask({}, { headers: { ...headers, 'x-gw-upstream-timeout': value } });
      expect([answer.status, answer.headers.get('x-gw-upstream-timeout')]).toEqual([200, told]);
    }
  }, 60_000);

  test('a silent provider: a keepalive comment after 15 seconds, and a later failure is an event', async () => {
    stack = await startStack();
    const { ask, upstream, key } = stack;
    upstream.respond(hang());
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      'x-gw-upstream-timeout': '17',
    };
    const started = performance.now();
    const answer = await ask({ stream: true }, { headers });
    const text = await read(answer);
    expect(performance.now() - started).toBeGreaterThan(15_000);
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    expect(text.startsWith(': keepalive\n\n')).toBe(true);
    expect(lastEvent(text.slice(': keepalive\n\n'.length)).error?.code).toBe('upstream_timeout');
  }, 60_000);
});

describe('SIGTERM', () => {
  test('open streams run on to their end, new calls are refused, then the process ends with everything settled', async () => {
    stack = await startStack();
    const { ask, upstream, gateway } = stack;
    const steps = gate();
    upstream.respond(chat({ content: ['a', 'b'], gate: steps }));
    const streaming = ask({ stream: true });
    await steps.step();
    await steps.step();
    const answer = await streaming;
    gateway.signal('SIGTERM');
    while ((await fetch(`${gateway.adminUrl}/readyz`)).status === 200)
      await new Promise((resolve) => setTimeout(resolve, 5));
    await expect(ask()).rejects.toThrow('fetch failed');
    steps.release();
    const text = await read(answer);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(await gateway.exited).toBe(0);
    await expectBooksToAgree(stack, 1);
  }, 60_000);

  test('who is connected is served once more, and told to connect elsewhere', async () => {
    stack = await startStack();
    const { ask, upstream, gateway, key } = stack;
    const [steps, others] = [gate(), gate()];
    const keptOpen = chat({ content: ['a'], gate: others });
    upstream.respond([keptOpen, chat({ content: ['a'], gate: steps }), chat({ content: 'b' })]);
    // While this one runs, the process is not at its end, however long the steps below take.
    const other = ask({ stream: true });
    await others.step();
    const body = JSON.stringify({ model: 'upstream/m', stream: true, messages: [{ role: 'user', content: 'Hi' }] });
    const call = [
      'POST /v1/chat/completions HTTP/1.1',
      'host: gateway',
      `authorization: Bearer ${key}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      '',
      body,
    ].join('\r\n');
    const { hostname, port } = new URL(gateway.url);
    const socket = connect({ host: hostname, port: Number(port) });
    let text = '';
    const ended = new Promise((resolve) => socket.once('end', resolve));
    socket.on('data', (bytes: Buffer) => (text += bytes.toString()));
    socket.write(call);
    await steps.step();
    gateway.signal('SIGTERM');
    while (!gateway.log.some((line) => line.includes('"drain.started"')))
      await new Promise((resolve) => setTimeout(resolve, 5));
    steps.release();
    while (!text.endsWith('0\r\n\r\n')) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(text).toMatch(/^connection: keep-alive/im);
    text = '';
    socket.write(call);
    await ended;
    expect(text).toMatch(/^HTTP\/1\.1 200 .*connection: close.*data: \[DONE\]/is);
    others.release();
    await read(await other);
    expect(await gateway.exited).toBe(0);
    await expectBooksToAgree(stack, 3);
  }, 60_000);

  test('for a while new connections are served too, though it is not ready any more', async () => {
    stack = await startStack({ env: { GW_LEAVE_SECONDS: '300' } });
    const { ask, upstream, gateway } = stack;
    upstream.respond(chat({ content: 'a' }));
    gateway.signal('SIGTERM');
    while ((await fetch(`${gateway.adminUrl}/readyz`)).status === 200)
      await new Promise((resolve) => setTimeout(resolve, 5));
    const answer = await ask();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('connection')).toBe('close');
  }, 60_000);

  test('a stream that outstays the grace ends with server_restarting, sealed and settled', async () => {
    stack = await startStack({ env: { GW_DRAIN_SECONDS: '1' } });
    const { ask, upstream, gateway, databaseUrl } = stack;
    const steps = gate();
    upstream.respond(chat({ content: ['a', 'b'], gate: steps }));
    const streaming = ask({ stream: true });
    await steps.step();
    await steps.step();
    const answer = await streaming;
    gateway.signal('SIGTERM');
    const text = await read(answer);
    expect(lastEvent(text).error).toMatchObject({ code: 'server_restarting' });
    expect(await gateway.exited).toBe(0);
    expect(await rowOf(databaseUrl, answer.headers.get('x-request-id'))).toMatchObject({
      outcome: 'failed',
      code: 'server_restarting',
      usage_source: 'estimated',
    });
    await expectBooksToAgree(stack, 1);
  }, 60_000);
});
