import { afterAll, beforeAll, expect, test } from 'vitest';
import { chat, json } from '../harness/answers.ts';
import { resource } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { startStack, type Stack } from './stack.ts';

/** The row says where a prompt went, whoever answered it in the end. */

let stack: Stack;
let american: Upstream;
/** Keeps files. */
let keeper: Upstream;
const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

beforeAll(async () => {
  american = await startUpstream();
  cleanup.defer(() => american.close());
  keeper = await startUpstream();
  cleanup.defer(() => keeper.close());
  stack = await startStack({
    policy: { dlp: { mode: 'AllowLog' } },
    prices: ['upstream', 'american', 'keeper'].map((slug) => ({ model: `${slug}/*`, input: '1', output: '1' })),
    more: () => [
      resource('Provider', 'american', {
        slug: 'american',
        protocol: 'Custom',
        jurisdiction: 'US',
        endpoint: { url: american.url, allowInsecure: true },
        retry: { attempts: 2 },
      }),
      resource('Provider', 'keeper', {
        slug: 'keeper',
        vendor: 'openai',
        jurisdiction: 'US',
        endpoint: { url: keeper.url, allowInsecure: true },
        credentials: [{ name: 'k', type: 'APIKey', secretKeyRef: { name: 'accounts', key: 'k' } }],
      }),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'accounts', namespace: 'default' },
        stringData: { k: 'an-account' },
      },
      resource('ModelAlias', 'either', {
        alias: 'gw/either',
        strategy: 'Failover',
        targets: [
          { model: 'american/m', priority: 0 },
          { model: 'upstream/m', priority: 1 },
        ],
      }),
    ],
  });
  cleanup.defer(() => stack[Symbol.asyncDispose]());
}, 60_000);

async function rowOfCall(status: number) {
  const answer = await stack.ask({ model: 'gw/either' });
  const text = await answer.text();
  expect(answer.status, text).toBe(status);
  // Addresses behind the gateway are not the client's.
  expect(text).not.toContain('"host"');
  return rowOf(stack.databaseUrl, answer.headers.get('x-request-id'));
}

const hostOf = (upstream: Upstream): string => new URL(upstream.url).host;

test('a prompt that failed over is sealed with every jurisdiction that it was sent to', async () => {
  american.respond(json({ error: { message: 'down' } }, 500));
  stack.upstream.respond(chat({ content: 'Hello.' }));
  const row = await rowOfCall(200);
  const sent = { host: hostOf(american), jurisdiction: 'US', sent: true, status: 500 };
  expect(row.attempts).toMatchObject([
    sent,
    sent,
    { host: hostOf(stack.upstream), jurisdiction: 'EU', sent: true, status: 200 },
  ]);
  expect(row).toMatchObject({ jurisdiction: 'EU,US', provider: 'upstream' });
});

test('a prompt that nobody answered went where it was sent, too', async () => {
  american.respond(json({ error: { message: 'down' } }, 500));
  stack.upstream.respond((exchange) => exchange.cut('reset'));
  expect(await rowOfCall(502)).toMatchObject({ jurisdiction: 'EU,US' });
});

test('one that was refused before there was a connection was not sent there', async () => {
  await american.down();
  stack.upstream.respond(chat({ content: 'Hello.' }));
  const row = await rowOfCall(200);
  const refused = { host: hostOf(american), jurisdiction: 'US', sent: false, error: 'connect' };
  expect(row.attempts).toMatchObject([refused, refused, { jurisdiction: 'EU', sent: true }]);
  expect(row.jurisdiction).toBe('EU');
  await stack.upstream.down();
  expect((await rowOfCall(502)).jurisdiction).toBeNull();
  await stack.upstream.up();
  await american.up();
});

test('a list of what a workload has made says where each object was asked for', async () => {
  const id = 'file_1';
  const file = { id, object: 'file', purpose: 'user_data' };
  const form = new FormData();
  form.append('purpose', 'user_data');
  form.append('file', new Blob(['x']), 'x.txt');
  const headers = { authorization: `Bearer ${stack.key}`, 'x-gw-provider': 'keeper' };
  const listed = async (init: RequestInit = {}): Promise<Response> => {
    const answer = await fetch(`${stack.gateway.url}/v1/files`, { headers, ...init });
    await answer.text();
    return answer;
  };
  keeper.respond(json(file));
  expect((await listed({ method: 'POST', body: form })).status).toBe(200);
  const asked = { provider: 'keeper', host: hostOf(keeper), jurisdiction: 'US' };
  const row = async (status: number) => {
    const answer = await listed();
    expect(answer.status).toBe(status);
    return rowOf(stack.databaseUrl, answer.headers.get('x-request-id'));
  };
  expect(await row(200)).toMatchObject({ jurisdiction: 'US', attempts: [{ ...asked, sent: true, status: 200 }] });
  keeper.respond(json({ error: { message: 'down' } }, 500));
  expect(await row(502)).toMatchObject({ attempts: [{ ...asked, sent: true, status: 500 }] });
  await keeper.down();
  expect(await row(502)).toMatchObject({ attempts: [{ ...asked, sent: false, error: 'connect' }] });
});
