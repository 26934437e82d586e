import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Agent } from 'undici';
import { closedLoop, createClient, type LoadResult } from '../bench/load.ts';
import { chat, hang, json } from '../harness/answers.ts';
import { resource, type GatewayProcess } from '../harness/gateway.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { expectBooksToAgree, startStack, type Stack } from './stack.ts';

/** Two gateways under load before two providers, of which one fails. */

const OPEN_SECONDS = 2;
/** The least that a workload may set. */
const PATIENCE_SECONDS = 10;
const CONNECTIONS = 8;
/** Nano-euro a call. */
const PRICE = 10_000_000n;
/** In a row, until a gateway leaves the endpoint alone. */
const NOTICED_AFTER = 5;

const cleanup = new AsyncDisposableStack();
let stack: Stack;
let failing: Upstream;
let healthy: Upstream;
let gateways: readonly GatewayProcess[];
let client: Agent;
let calls = 0;

beforeAll(async () => {
  healthy = await startUpstream();
  cleanup.defer(() => healthy.close());
  const provider = { retry: { attempts: 2 }, circuitBreaker: { openSeconds: OPEN_SECONDS } };
  stack = await startStack({
    provider,
    policy: { answerTimeoutSeconds: PATIENCE_SECONDS },
    prices: ['upstream', 'healthy'].map((slug) => ({ model: `${slug}/*`, unit: 'Call', input: '0.01' })),
    more: () => [
      resource('Provider', 'healthy', {
        slug: 'healthy',
        protocol: 'Custom',
        jurisdiction: 'EU',
        endpoint: { url: healthy.url, allowInsecure: true },
        ...provider,
      }),
      resource('ModelAlias', 'both', {
        alias: 'gw/both',
        strategy: 'Weighted',
        targets: [{ model: 'upstream/m' }, { model: 'healthy/m' }],
      }),
    ],
  });
  cleanup.defer(() => stack[Symbol.asyncDispose]());
  failing = stack.upstream;
  gateways = [stack.gateway, await stack.another()];
  client = createClient();
  cleanup.defer(() => client.destroy());
}, 60_000);
afterAll(() => cleanup.disposeAsync());

const BODY = JSON.stringify({ model: 'gw/both', messages: [{ role: 'user', content: 'Hello' }] });

/** As many calls to each gateway, all at once over a few connections. */
async function load(requests: number): Promise<readonly LoadResult[]> {
  calls += requests * gateways.length;
  return Promise.all(
    gateways.map(({ url }) => closedLoop(client, { origin: url, key: stack.key }, BODY, CONNECTIONS, requests)),
  );
}

const failures = (results: readonly LoadResult[]): number => results.reduce((sum, one) => sum + one.failures, 0);
const longest = (results: readonly LoadResult[]): number => Math.max(...results.map(({ seconds }) => seconds));

/** Loads both gateways until each has let calls through to the endpoint again. */
async function untilTakenUp(): Promise<void> {
  for (const { adminUrl } of gateways) {
    for (;;) {
      expect(failures(await load(20))).toBe(0);
      const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
      if (metrics.includes('gw_open_circuits 0\n')) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

describe('load over two gateways', () => {
  test('is spread while both providers are well', async () => {
    expect(failures(await load(100))).toBe(0);
    expect(failing.requests.length).toBeGreaterThan(0);
    expect(healthy.requests.length).toBeGreaterThan(0);
  });

  test('steers around one that answers 503: no client is told, and it is left in peace', async () => {
    failing.respond(json({ error: { message: 'on fire' } }, 503));
    const before = failing.requests.length;
    const results = await load(200);
    expect(failures(results)).toBe(0);
    // Each gateway notices for itself, while calls that have begun are on their way, twice each; then it only looks
    // whether the provider is back.
    const looks = Math.ceil(longest(results) / OPEN_SECONDS);
    const most = gateways.length * (NOTICED_AFTER + 2 * CONNECTIONS + looks);
    expect(failing.requests.length - before).toBeLessThanOrEqual(most);
    expect(failing.requests.length - before).toBeGreaterThanOrEqual(NOTICED_AFTER);
  });

  test('comes back to it when it is well', async () => {
    failing.respond(chat({ content: 'Hello.' }));
    await untilTakenUp();
    const before = failing.requests.length;
    expect(failures(await load(50))).toBe(0);
    expect(failing.requests.length).toBeGreaterThan(before);
  });

  test('loses no more calls to one that stalls than were under way: they are not asked again elsewhere', async () => {
    failing.respond(hang());
    const before = failing.requests.length;
    const results = await load(150);
    const lost = failures(results);
    const looks = gateways.length * Math.ceil((longest(results) - PATIENCE_SECONDS) / OPEN_SECONDS);
    expect(lost).toBe(failing.requests.length - before);
    expect(lost).toBeGreaterThanOrEqual(NOTICED_AFTER);
    expect(lost).toBeLessThanOrEqual(gateways.length * CONNECTIONS + looks);
  });

  test('is sealed and billed once a call: those that were served at the price, and those that may have run', async () => {
    const rows = await ledgerRows(stack.databaseUrl, calls);
    expect(rows).toHaveLength(calls);
    for (const row of rows) {
      expect(row.attempts.length).toBeLessThanOrEqual(3);
      expect([row.outcome, row.cost_nano_eur]).toEqual([row.outcome, String(PRICE)]);
      if (row.outcome !== 'served') expect(row.code).toBe('upstream_timeout');
    }
    expect(await expectBooksToAgree(stack, calls)).toBe(BigInt(calls) * PRICE);
  });
});
