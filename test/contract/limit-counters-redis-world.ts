import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import {
  openRedisCounters,
  type RedisCountersOptions,
  type RedisLimitCounters,
} from '#/adapters/redis/limit-counters.ts';
import { CountersUnavailable, type LimitCounters } from '#/ports/limit-counters.ts';
import { openHold, ORGANIZATION, request, spent } from './limit-counters-world.ts';

export const budget = { workloadBudget: { amount: 100n, period: 'total' } } as const;
export const cleanUp: (() => unknown)[] = [];

export async function connect(url: string, options: Partial<RedisCountersOptions> = {}): Promise<RedisLimitCounters> {
  const counters = openRedisCounters({ url, keyPrefix: `t-${randomUUID()}:`, ...options });
  cleanUp.push(() => counters.close());
  await counters.ping();
  return counters;
}

export function rawClient(url: string): Redis {
  const client = new Redis(url);
  cleanUp.push(() => client.disconnect());
  return client;
}

export async function fault(attempt: Promise<unknown>): Promise<Error> {
  const error: unknown = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CountersUnavailable);
  return error as Error;
}

export const everyVerb = (counters: LimitCounters): readonly (() => Promise<unknown>)[] => [
  () => counters.hold(request('verb', budget)),
  () => counters.settle([{ callId: 'verb', organization: ORGANIZATION, cost: 1n, tokens: 0 }]),
  () => counters.restore(ORGANIZATION, [openHold('verb')], async () => spent(0n)),
  () => counters.view(ORGANIZATION),
  () => counters.takeOver([ORGANIZATION], 'gateway-1', 1000),
];
