import { beforeEach, describe, expect, test } from 'vitest';
import { make, sha256, snapshotOf } from '#/config/testing/resources.ts';
import { Arrivals } from './turn-away.ts';

/** Time passes and configuration changes by hand. */
let now: number;
let arrivals: Arrivals;
const secret = 'gw_test_arrivals';

function callerWith(requestsPerMinute: number | undefined) {
  const snapshot = snapshotOf([
    make('Organization', 'acme'),
    make('Workload', 'bot', requestsPerMinute === undefined ? {} : { limits: { requestsPerMinute } }),
    make('VirtualKey', 'key', { hash: { value: sha256(secret) } }),
  ]);
  const key = snapshot.keys.get(sha256(secret))!;
  return (id: number, length = '1000000') => ({ id: String(id), key, snapshot, headers: { 'content-length': length } });
}

beforeEach(() => {
  now = 0;
  arrivals = new Arrivals(() => now);
});

describe('requests on their way to the counters', () => {
  const caller = callerWith(3);

  test('are no more at once than a minute may have', () => {
    const refusals = [1, 2, 3, 4, 5].map((id) => arrivals.enter(caller(id))?.code);
    expect(refusals).toEqual([undefined, undefined, undefined, 'rate_limit_exceeded', 'rate_limit_exceeded']);
    arrivals.leave(caller(2));
    arrivals.leave(caller(2));
    expect(arrivals.enter(caller(6))).toBeUndefined();
    expect(arrivals.enter(caller(7))).toMatchObject({ status: 429, retryAfterMs: 1000 });
  });

  test('are no more than the counters have left, until the counters have more', () => {
    expect(arrivals.enter(caller(1))).toBeUndefined();
    arrivals.granted(caller(1), { limit: 3, remaining: 1, resetMs: 20_000 }, now);
    expect(arrivals.enter(caller(2))).toBeUndefined();
    expect(arrivals.enter(caller(3))).toMatchObject({
      code: 'rate_limit_exceeded',
      retryAfterMs: 20_000,
      limits: { requests: { limit: 3, remaining: 0, resetMs: 20_000 } },
    });
    arrivals.granted(caller(2), { limit: 3, remaining: 0, resetMs: 19_000 }, (now = 1000));
    now = 19_999;
    expect(arrivals.enter(caller(4))?.retryAfterMs).toBe(1);
    now = 20_000;
    expect([5, 6, 7, 8].map((id) => arrivals.enter(caller(id)) === undefined)).toEqual([true, true, true, false]);
  });

  test('are asked about all the same where they are small, and not where nobody knows', () => {
    arrivals.granted(caller(1), { limit: 3, remaining: 0, resetMs: 60_000 }, now);
    expect(arrivals.enter(caller(2, '65536'))).toBeUndefined();
    expect(arrivals.enter(caller(3, '65537'))?.code).toBe('rate_limit_exceeded');
    const chunked = { ...caller(4), headers: { 'transfer-encoding': 'chunked' } };
    expect(arrivals.enter(chunked)?.code).toBe('rate_limit_exceeded');
  });

  test('of a workload without a limit are not counted', () => {
    const unlimited = callerWith(undefined);
    for (let id = 0; id < 100; id++) expect(arrivals.enter(unlimited(id))).toBeUndefined();
  });

  test('are counted anew under a configuration that says otherwise', () => {
    arrivals.granted(caller(1), { limit: 3, remaining: 0, resetMs: 60_000 }, now);
    expect(arrivals.enter(caller(2))?.code).toBe('rate_limit_exceeded');
    expect(arrivals.enter(callerWith(4)(3))).toBeUndefined();
  });
});
