import { hash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newKey, resource, type GatewayProcess } from '../harness/gateway.ts';
import { ledgerRows, rowOf } from '../harness/ledger-rows.ts';
import { startStack, type Stack } from './stack.ts';

/** Keys that are at their limit are turned away before their requests are read. */

let stack: Stack;
let other: GatewayProcess;
const keys = { limited: newKey(), poor: newKey(), messages: newKey(), wordy: newKey(), refused: newKey() };
let calls = 0;

const workload = (name: keyof typeof keys, spec: object): object[] => [
  resource('Workload', name, { organizationRef: { name: 'acme' }, ...spec }),
  resource('VirtualKey', `${name}-key`, {
    workloadRef: { name },
    hash: { algorithm: 'SHA256', value: hash('sha256', keys[name], 'hex') },
  }),
];

beforeAll(async () => {
  stack = await startStack({
    prices: [{ model: 'upstream/*', unit: 'Call', input: '0.25' }],
    more: () => [
      ...workload('limited', { limits: { requestsPerMinute: 2 } }),
      ...workload('messages', { limits: { requestsPerMinute: 1, tokensPerMinute: 100_000 } }),
      ...workload('poor', { budget: { amount: '0.5', period: 'Total' } }),
      ...workload('refused', { limits: { requestsPerMinute: 2 } }),
      ...workload('wordy', { limits: { tokensPerMinute: 1000 } }),
    ],
  });
  other = await stack.another();
}, 60_000);
afterAll(() => stack[Symbol.asyncDispose]());

function ask(name: keyof typeof keys, body: unknown = {}, { url } = stack.gateway): Promise<Response> {
  calls++;
  const asked = { model: 'upstream/m', messages: [{ role: 'user', content: 'To ada@example.com' }], max_tokens: 10 };
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${keys[name]}` },
    body: typeof body === 'string' ? body : JSON.stringify({ ...asked, ...(body as object) }),
  });
}

const row = (answer: Response) => rowOf(stack.databaseUrl, answer.headers.get('x-request-id'));

test('429: the counters say it once, then it is known, told as it stands, and sealed', async () => {
  for (const remaining of ['1', '0']) {
    const served = await ask('limited');
    expect([served.status, served.headers.get('x-ratelimit-remaining-requests')]).toEqual([200, remaining]);
  }
  const asked = await ask('limited');
  expect(asked.status).toBe(429);
  expect(await row(asked)).toMatchObject({ step: 'meter', model: 'upstream/m', dlp: { findings: { EMAIL: 1 } } });
  // Nobody looks at what it says.
  const known = await ask('limited', '{"model":');
  expect(known.status).toBe(429);
  expect(await known.json()).toMatchObject({ error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' } });
  const wait = Number(known.headers.get('retry-after'));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(60);
  expect(known.headers.get('x-should-retry')).toBeNull();
  expect(known.headers.get('x-ratelimit-limit-requests')).toBe('2');
  expect(known.headers.get('x-ratelimit-remaining-requests')).toBe('0');
  expect(known.headers.get('x-ratelimit-reset-requests')).toMatch(/^(1m)?\d+(\.\d+)?s$/);
  expect(await row(known)).toMatchObject({
    outcome: 'refused',
    step: 'admit',
    code: 'rate_limit_exceeded',
    status: 429,
    model: null,
    held_nano_eur: '0',
    cost_nano_eur: '0',
    dlp: { findings: {} },
  });
  // The other gateway asks the counters, which are one for both.
  const elsewhere = await ask('limited', {}, other);
  expect(elsewhere.status).toBe(429);
  expect(await row(elsewhere)).toMatchObject({ step: 'meter' });
});

test('a large request is answered before it has come', async () => {
  calls++;
  const answered = new Promise<number | undefined>((resolve, reject) => {
    const sending = httpRequest(`${stack.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': 10_000_000,
        authorization: `Bearer ${keys.limited}`,
      },
    });
    sending.once('response', (response) => {
      resolve(response.statusCode);
      sending.destroy();
    });
    sending.once('error', reject);
    sending.write('{"model":"upstream/m"');
  });
  expect(await answered).toBe(429);
});

test('what is passed on is turned away and sealed as well', async () => {
  calls++;
  const answer = await fetch(`${stack.gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${keys.limited}` },
    body: '{"model":"upstream/tts","input":"Hello","voice":"alloy"}',
  });
  expect(answer.status).toBe(429);
  expect(await row(answer)).toMatchObject({ surface: 'audio', outcome: 'refused', step: 'admit' });
});

test('large requests that end before the counters are asked take no place of later ones', async () => {
  const form = (name: string): FormData => {
    const body = new FormData();
    body.set(name, new Blob([new Uint8Array(100_000)]), 'a.bin');
    return body;
  };
  // More of each than the workload has requests a minute.
  for (const path of ['/v1/audio/transcriptions', '/v1/documents/anonymize'])
    for (let sent = 0; sent < 4; sent += 1) {
      calls++;
      const answer = await fetch(`${stack.gateway.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${keys.refused}` },
        body: form('nothing'),
      });
      expect([path, answer.status, (await row(answer))['step']]).not.toEqual([path, 429, 'admit']);
      expect(answer.status).toBeLessThan(500);
    }
  expect((await ask('refused', { user: 'x'.repeat(100_000) })).status).toBe(200);
});

test('what costs nothing is not counted: models are listed all the same', async () => {
  const headers = { authorization: `Bearer ${keys.limited}` };
  expect((await fetch(`${stack.gateway.url}/v1/models`, { headers })).status).toBe(200);
});

test('a hot loop reaches nobody, and every turn of it is sealed', async () => {
  const sent = stack.upstream.requests.length;
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask('limited')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
  expect(stack.upstream.requests).toHaveLength(sent);
  const rows = await ledgerRows(stack.databaseUrl, calls);
  expect(rows.filter(({ step }) => step === 'admit').length).toBeGreaterThanOrEqual(100);
});

test('402: known for a second', async () => {
  for (let call = 0; call < 2; call++) expect((await ask('poor')).status).toBe(200);
  expect((await row(await ask('poor'))).step).toBe('meter');
  // However slow the machine is, two of these come within a second.
  const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => ask('poor')));
  for (const answer of answers) {
    expect(answer.status).toBe(402);
    expect(await answer.json()).toMatchObject({ error: { code: 'insufficient_quota', type: 'insufficient_quota' } });
  }
  const steps = await Promise.all(answers.map(async (answer) => (await row(answer)).step));
  expect(steps).toContain('admit');
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect((await row(await ask('poor'))).step).toBe('meter');
});

test('tokens per minute: a smaller request is let through that a larger one was refused before', async () => {
  const large = await ask('wordy', { messages: [{ role: 'user', content: 'x'.repeat(8000) }] });
  expect(large.status).toBe(429);
  // Waiting does not help a request that is larger than the limit.
  expect([large.headers.get('retry-after'), large.headers.get('x-should-retry')]).toEqual([null, 'false']);
  expect((await ask('wordy')).status).toBe(200);
});

test('the vendors’ clients read what they are told', async () => {
  const anthropic = new Anthropic({ apiKey: keys.messages, baseURL: stack.gateway.url, maxRetries: 0 });
  const message = { model: 'upstream/m', max_tokens: 10, messages: [{ role: 'user' as const, content: 'Hello' }] };
  calls += 4;
  const { response } = await anthropic.messages.create(message).withResponse();
  const limits = (headers: Headers | undefined) =>
    ['requests-limit', 'requests-remaining', 'tokens-limit'].map((name) => headers?.get(`anthropic-ratelimit-${name}`));
  expect(limits(response.headers)).toEqual(['1', '0', '100000']);
  expect(response.headers.get('x-ratelimit-limit-requests')).toBeNull();
  const reset = String(response.headers.get('anthropic-ratelimit-requests-reset'));
  expect(reset).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(Date.parse(reset) - Date.now()).toBeGreaterThan(30_000);
  expect(Date.parse(reset) - Date.now()).toBeLessThanOrEqual(62_000);
  for (const step of ['meter', 'admit']) {
    const error = await anthropic.messages.create(message).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.RateLimitError);
    const { headers, error: body } = error as InstanceType<typeof Anthropic.RateLimitError>;
    expect(body).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } });
    expect(limits(headers)).toEqual(['1', '0', '100000']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await rowOf(stack.databaseUrl, headers.get('request-id'))).step).toBe(step);
  }
  const openai = new OpenAI({ apiKey: keys.messages, baseURL: `${stack.gateway.url}/v1`, maxRetries: 0 });
  const error = await openai.chat.completions.create(message).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OpenAI.RateLimitError);
  expect((error as InstanceType<typeof OpenAI.RateLimitError>).headers?.get('x-ratelimit-remaining-requests')).toBe(
    '0',
  );
});

test('afterwards the books agree', async () => {
  const rows = await ledgerRows(stack.databaseUrl, calls);
  expect(rows).toHaveLength(calls);
  const served = rows.filter(({ outcome }) => outcome === 'served');
  expect(served).toHaveLength(stack.upstream.requests.length);
  expect(rows.reduce((sum, { cost_nano_eur }) => sum + BigInt(cost_nano_eur), 0n)).toBe(
    BigInt(served.length) * 250_000_000n,
  );
});
