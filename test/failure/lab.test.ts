import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { text } from '../harness/answers.ts';
import { freePort } from '../harness/free-port.ts';
import { resource, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { FAULTS, type Fate, type Fault, type Mode } from './faults.ts';
import { expectBooksToAgree, startStack, type Stack } from './stack.ts';

/** The table of `faults.ts` over two gateways with one Redis and one PostgreSQL. */

const MODES: readonly Mode[] = ['buffered', 'streamed'];
/** Nano-euro a token: input and output. */
const PRICE = [2000, 8000] as const;
const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'keys', namespace: 'default' },
  stringData: { key: 'sk-configured' },
};

let stack: Stack;
let gateways: Readonly<Record<Mode, GatewayProcess>>;
let calls = 0;

beforeAll(async () => {
  const nowhere = await freePort();
  const retry = { retry: { attempts: 5 } };
  const provider = (slug: string, spec: object): object =>
    resource('Provider', slug, {
      slug,
      jurisdiction: 'EU',
      credentials: [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'key' } }],
      ...retry,
      ...spec,
    });
  stack = await startStack({
    provider: retry,
    prices: ['upstream', 'nowhere', 'gemini', 'bedrock'].map((slug) => ({
      model: `${slug}/*`,
      input: '2',
      output: '8',
    })),
    more: (url) => {
      const endpoint = { url, allowInsecure: true };
      return [
        SECRET,
        provider('nowhere', {
          vendor: 'custom',
          protocol: 'Custom',
          endpoint: { ...endpoint, url: `http://127.0.0.1:${nowhere}` },
        }),
        provider('gemini', { endpoint }),
        provider('bedrock', { endpoint, region: 'eu-central-1' }),
      ];
    },
  });
  gateways = { buffered: stack.gateway, streamed: await stack.another() };
}, 60_000);
afterAll(() => stack[Symbol.asyncDispose]());

let before = 0;
beforeEach(() => {
  before = stack.upstream.requests.length;
});

interface Told {
  readonly code?: string;
  readonly message?: string;
  readonly gw?: { readonly cause: string; readonly attempts: readonly object[] };
}

/** What an answer says went wrong: its body, or the event that ends the stream. */
function told(body: string, streamed: boolean): Told {
  const events = body.trimEnd().split('\n\n');
  const last = streamed ? (events.at(-1) ?? '').replace(/^data: /, '') : body;
  return last === '[DONE]' ? {} : ((JSON.parse(last) as { error?: Told }).error ?? {});
}

async function ask({ provider = 'upstream', headers }: Fault, mode: Mode): Promise<Response> {
  stack.gateway = gateways[mode];
  calls++;
  // Every call has a model of its own: what one endpoint went through says nothing of the next.
  const body = { model: `${provider}/m-${calls}`, max_tokens: 10, stream: mode === 'streamed' };
  return stack.ask(body, {
    headers: { 'content-type': 'application/json', authorization: `Bearer ${stack.key}`, ...headers },
  });
}

function script({ answers }: Fault, mode: Mode): void {
  if (answers === undefined) return;
  if (typeof answers === 'function') stack.upstream.respond(answers);
  else if (Array.isArray(answers)) stack.upstream.respond(answers as never);
  else stack.upstream.respond((answers as Record<Mode, never>)[mode]);
}

async function expectRow(callId: string | null, fate: Fate): Promise<void> {
  const { code, cause, attempts, money } = fate;
  const row = await rowOf(stack.databaseUrl, callId);
  expect(row.attempts).toMatchObject(attempts);
  expect(row.attempts).toHaveLength(attempts.length);
  expect(row).toMatchObject(
    code === undefined
      ? { outcome: 'served', code: null, status: 200, step: null }
      : { outcome: 'failed', code, reason: cause, step: 'dispatch' },
  );
  const source = { none: null, reported: 'provider', estimated: 'estimated' }[money];
  const { input = 0, output = 0 } = row.usage ?? {};
  expect(row.usage_source).toBe(source);
  expect(Number(row.cost_nano_eur)).toBe(input * PRICE[0] + output * PRICE[1]);
  if (money === 'reported') expect(row.usage).toMatchObject({ input: 10, output: 1 });
  if (money === 'estimated') expect(Number(row.cost_nano_eur)).toBeGreaterThan(0);
}

describe.each(MODES)('%s', (mode) => {
  test.each(FAULTS.map((fault) => [fault.name, fault] as const))('%s', async (_name, fault) => {
    const fate: Fate = 'buffered' in fault.fate ? fault.fate[mode] : fault.fate;
    script(fault, mode);
    const answer = await ask(fault, mode);
    const body = await answer.text();
    const isStream = answer.headers.get('content-type')?.includes('event-stream') === true;
    const { code, message, gw } = told(body, isStream);
    expect([answer.status, code]).toEqual([fate.status, fate.code]);
    const failed = fate.code !== undefined;
    // What came before is the client's; an end is not pretended.
    if (isStream && failed) expect(body).toMatch(/^data: .*some words(?![^]*\[DONE\])/);
    expect(gw?.cause).toBe(fate.cause);
    expect(gw?.attempts ?? fate.attempts).toMatchObject(fate.attempts);
    expect(message ?? '').not.toMatch(/sk-secret|127\.0\.0\.1/);
    expect(answer.headers.get('x-should-retry')).toBe(failed && fate.shouldRetry !== null ? 'false' : null);
    if (fate.retryAfter === undefined) expect(answer.headers.get('retry-after')).toBeNull();
    else expect(answer.headers.get('retry-after')).toMatch(fate.retryAfter);
    if (fault.provider !== 'nowhere') expect(stack.upstream.requests.length - before).toBe(fate.attempts.length);
    await expectRow(answer.headers.get('x-request-id'), fate);
  });
});

test('an answer nested deeper than a translation can go is the provider’s fault', async () => {
  const deep = `${'[{"a":'.repeat(100_000)}1${'}]'.repeat(100_000)}`;
  const call = `{"id":"c","type":"function","function":{"name":"f","arguments":{"x":${deep}}}}`;
  const answer = `{"id":"x","choices":[{"message":{"tool_calls":[${call}]},"finish_reason":"tool_calls"}]}`;
  stack.upstream.respond(text(answer, { headers: { 'content-type': 'application/json' } }));
  const answered = await fetch(`${stack.gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': stack.key },
    body: JSON.stringify({
      model: `upstream/m-${++calls}`,
      max_tokens: 5,
      messages: [{ role: 'user', content: 'hi' }],
    }),
  });
  expect([answered.status, await answered.json()]).toMatchObject([
    502,
    { type: 'error', error: { type: 'api_error' } },
  ]);
  expect(answered.headers.get('x-should-retry')).toBe('false');
});

test('afterwards the books agree: nothing is held, every call is sealed and billed once', async () => {
  expect(calls).toBe(FAULTS.length * MODES.length + 1);
  await expectBooksToAgree(stack, calls);
});

test('nothing of the requests, the keys or the providers’ words is in a log', () => {
  const log = Object.values(gateways).flatMap((gateway) => gateway.log);
  expect(log.length).toBeGreaterThan(0);
  for (const secret of [stack.key, 'sk-', 'Hello', 'slow down', 'garbage', 'no capacity']) {
    expect(log.join('\n')).not.toContain(secret);
  }
});
