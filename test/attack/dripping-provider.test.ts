import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Answer } from '../harness/exchange.ts';
import { newKey, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { tally } from './tally.ts';

/** A provider that says a little now and then, for ever, holds no call open for ever; what it said is paid for. */

const tried = tally('streams without an end');
const key = newKey();
const STREAM_SECONDS = 3;
let upstream: Upstream;
let gateway: GatewayProcess;
let databaseUrl: string;

beforeAll(async () => {
  upstream = await startUpstream(dripping());
  databaseUrl = await createDatabase(inject('databaseUrl'));
  gateway = await startGateway({
    resources: tenant({ upstreamUrl: upstream.url, key, policy: { dlp: { mode: 'Tokenize' } } }),
    redisUrl: inject('redisUrl'),
    databaseUrl,
    env: { GW_STREAM_SECONDS: String(STREAM_SECONDS) },
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

function dripping(): Answer {
  const word = { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'word ' } }] };
  return async ({ response, signal }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    while (!signal.aborted) {
      response.write(`data: ${JSON.stringify(word)}\n\n`);
      await sleep(50);
    }
  };
}

const messages = [{ role: 'user', content: 'Say hello to ada@example.com.' }];
const LANES = [
  { path: '/v1/chat/completions', body: { messages } },
  { path: '/v1/messages', body: { messages, max_tokens: 1000 } },
  { path: '/v1/responses', body: { input: 'Say hello to ada@example.com.' } },
];

test.each(LANES)('$path ends in time, and what came is billed', async ({ path, body }) => {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'upstream/m', stream: true, ...body }),
  });
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text).toContain('word ');
  expect(text).toContain(`within ${STREAM_SECONDS} seconds`);
  const call = response.headers.get('x-request-id') ?? response.headers.get('request-id');
  let row;
  await expect
    .poll(async () => (row = (await ledgerRows(databaseUrl)).find((one) => one.call_id === call)), { timeout: 10_000 })
    .toBeDefined();
  const { cost_nano_eur: cost, usage } = row! as unknown as { cost_nano_eur: string; usage: { output: number } };
  expect(BigInt(cost)).toBeGreaterThan(0n);
  expect(usage.output).toBeGreaterThan(1);
  tried.held(path);
});
