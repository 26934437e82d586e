import { inject } from 'vitest';
import { openRedisCounters } from '../../src/adapters/redis/limit-counters.ts';
import type { CountersView } from '../../src/ports/limit-counters.ts';
import { newKey, startGateway, tenant, type GatewayProcess, type TenantOptions } from '../harness/gateway.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startRedis, type RedisServer, type RedisServerOptions } from '../harness/redis.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** A gateway with a Redis of its own to break, a database of its own and a stand-in provider. */
export interface Stack extends AsyncDisposable {
  readonly upstream: Upstream;
  readonly redis: RedisServer;
  readonly databaseUrl: string;
  readonly key: string;
  gateway: GatewayProcess;
  /** Starts another gateway process on the same stores and configuration. */
  another(env?: Readonly<Record<string, string>>): Promise<GatewayProcess>;
  /** Asks for a chat completion. */
  readonly ask: (body?: object, init?: RequestInit) => Promise<Response>;
}

const ORGANIZATION = 'default/acme';
const WORKLOAD = 'default/app';

export async function startStack(
  options: Partial<TenantOptions> & {
    readonly env?: Readonly<Record<string, string>>;
    readonly databaseUrl?: string;
    readonly redis?: RedisServerOptions;
    /** Resources beside those of the tenant, given the stand-in's address. */
    readonly more?: (upstreamUrl: string) => readonly object[];
  } = {},
): Promise<Stack> {
  const { env, databaseUrl: givenDatabase, redis: redisOptions, more, ...tenantOptions } = options;
  await using cleanup = new AsyncDisposableStack();
  const upstream = await startUpstream();
  cleanup.defer(() => upstream.close());
  const redis = await startRedis({ ...redisOptions, control: true });
  cleanup.defer(() => redis.stop());
  const databaseUrl = givenDatabase ?? (await createDatabase(inject('databaseUrl')));
  const key = newKey();
  // Limits on both scopes, so that both are counted.
  const workload = { budget: { amount: '10000', period: 'Total' }, ...tenantOptions.workload };
  const organization = { cap: { amount: '100000', period: 'Total' }, ...tenantOptions.organization };
  const resources = [
    ...tenant({ upstreamUrl: upstream.url, key, ...tenantOptions, workload, organization }),
    ...(more?.(upstream.url) ?? []),
  ];
  const another = async (itsEnv?: Readonly<Record<string, string>>): Promise<GatewayProcess> => {
    const gateway = await startGateway({ resources, redisUrl: redis.url, databaseUrl, env: { ...env, ...itsEnv } });
    all.defer(() => gateway.kill());
    return gateway;
  };
  const all = cleanup.move();
  const stack: Stack = {
    upstream,
    redis,
    databaseUrl,
    key,
    gateway: await another(),
    another,
    ask: (body = {}, init = {}) =>
      fetch(`${stack.gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'upstream/m', messages: [{ role: 'user', content: 'Hello' }], ...body }),
        ...init,
      }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
  return stack;
}

/** What the counters keep of the organization. */
export async function countersOf(redis: RedisServer): Promise<CountersView> {
  const counters = openRedisCounters({ url: redis.url });
  try {
    await counters.ping();
    return await counters.view(ORGANIZATION);
  } finally {
    await counters.close();
  }
}

/** Waits until every hold is settled, then holds the books against each other: counters = ledger, to the nano-euro. */
export async function expectBooksToAgree(stack: Stack, least: number): Promise<bigint> {
  let view = await countersOf(stack.redis);
  for (let tries = 0; view.holds.length > 0 && tries < 400; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    view = await countersOf(stack.redis);
  }
  const rows = await ledgerRows(stack.databaseUrl, least);
  const ledger = rows.reduce((sum, row) => sum + BigInt(row.cost_nano_eur), 0n);
  const total = (scope: string): bigint | undefined =>
    view.spend.find((entry) => entry.scope === scope && entry.period === 'total')?.amount;
  const { expect } = await import('vitest');
  expect(view.holds).toEqual([]);
  expect(new Set(rows.map((row) => row.call_id)).size).toBe(rows.length);
  expect(total('organization')).toBe(ledger);
  expect(total(WORKLOAD)).toBe(ledger);
  return ledger;
}
