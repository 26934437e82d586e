import { beforeEach, describe, expect, test } from 'vitest';
import type { CompiledSnapshot } from '#/config/compile/compile.ts';
import type { VirtualKeyConfig } from '#/config/snapshot.ts';
import { make, sha256, snapshotOf } from '#/config/testing/resources.ts';
import { RecentRefusals } from './turn-away.ts';
import type { Refused } from './limit-refusal.ts';

const limited = (requestsPerMinute: number): CompiledSnapshot =>
  snapshotOf([
    make('Organization', 'acme'),
    make('Workload', 'bot', {
      limits: { requestsPerMinute, tokensPerMinute: 1000 },
      budget: { amount: '5', period: 'Daily' },
    }),
    make('VirtualKey', 'key', { hash: { value: sha256('k') } }),
    make('Provider', 'vendor'),
  ]);
const snapshot = limited(2);
const keyOf = ({ keys }: CompiledSnapshot): VirtualKeyConfig => [...keys.values()][0]!;
const key = keyOf(snapshot);

let now: number;
let refusals: RecentRefusals;
beforeEach(() => {
  now = 70_000;
  refusals = new RecentRefusals(() => now);
});

const note = (decision: Omit<Refused, 'kind'>): void =>
  refusals.note({ kind: 'refused', ...decision }, now, key.workload, snapshot.revision);
const found = () => refusals.find(key, snapshot);

const requests = { limit: 2, remaining: 0, resetMs: 30_000 };
const tokens = (remaining: number) => ({ limit: 1000, remaining, resetMs: 20_000 });

test('nothing is known of a workload that was not refused', () => {
  expect(found()).toBeUndefined();
});

test('requests per minute: until the time that was named, told as it stands', () => {
  note({ by: 'requests', retryAfterMs: 30_000, requests });
  now += 12_000;
  expect(found()).toMatchObject({
    code: 'rate_limit_exceeded',
    status: 429,
    retryAfterMs: 18_000,
    limits: { requests: { limit: 2, remaining: 0, resetMs: 18_000 } },
  });
  now += 17_999;
  expect(found()).toBeDefined();
  now += 1;
  expect(found()).toBeUndefined();
});

describe('what a smaller request may not be refused', () => {
  test.each([
    ['tokens, none left', { by: 'tokens', retryAfterMs: 20_000, tokens: tokens(0) }, 1000],
    ['tokens, none left for a moment', { by: 'tokens', retryAfterMs: 300, tokens: tokens(0) }, 300],
    ['tokens, some left', { by: 'tokens', retryAfterMs: 20_000, tokens: tokens(1) }, 0],
    ['a budget', { by: 'budget' }, 1000],
    ['a cap', { by: 'cap' }, 1000],
  ] as const)('%s: is refused for no longer than the bound', (_name, decision, ms) => {
    note(decision);
    now += Math.max(0, ms - 1);
    expect(found() !== undefined).toBe(ms > 0);
    now += 1;
    expect(found()).toBeUndefined();
  });

  test('money is 402', () => {
    note({ by: 'budget' });
    expect(found()).toMatchObject({ code: 'insufficient_quota', status: 402 });
  });
});

test('a loop of twenty refusals in a second is not looked at for another', () => {
  for (let index = 0; index < 19; index++) note({ by: 'tokens', retryAfterMs: 20_000, tokens: tokens(500) });
  expect(found()).toBeUndefined();
  note({ by: 'tokens', retryAfterMs: 20_000, tokens: tokens(500) });
  now += 999;
  expect(found()).toMatchObject({ status: 429 });
  now += 1;
  expect(found()).toBeUndefined();
  for (let index = 0; index < 100; index++) {
    note({ by: 'tokens', tokens: tokens(500) });
    now += 60;
  }
  expect(found()).toBeUndefined();
});

test('what a call gives back ends what is remembered, but for requests per minute and for a loop', () => {
  const { organization } = key.workload;
  note({ by: 'budget' });
  refusals.freed('somebody else');
  expect(found()).toMatchObject({ status: 402 });
  refusals.freed(organization.id);
  expect(found()).toBeUndefined();
  note({ by: 'requests', retryAfterMs: 1000 });
  refusals.freed(organization.id);
  expect(found()).toMatchObject({ status: 429 });
  now += 5000;
  for (let index = 0; index < 20; index++) note({ by: 'budget' });
  refusals.freed(organization.id);
  expect(found()).toMatchObject({ status: 402 });
});

test('the wait is counted from when the counters were asked', () => {
  const askedAt = now;
  now += 400;
  refusals.note({ kind: 'refused', by: 'requests', retryAfterMs: 1000 }, askedAt, key.workload, snapshot.revision);
  expect(found()?.retryAfterMs).toBe(600);
});

test('what was let through, or configured anew, is looked at', () => {
  note({ by: 'requests', retryAfterMs: 30_000, requests });
  const changed = limited(100);
  expect(refusals.find(keyOf(changed), changed)).toBeUndefined();
  expect(found()).toBeDefined();
  refusals.forget(key.workload);
  expect(found()).toBeUndefined();
});
