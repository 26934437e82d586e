import { afterEach, expect, test, vi } from 'vitest';
import { openMemoryCounters } from './limit-counters.ts';

afterEach(() => void vi.useRealTimers());

test('a clock that is set back does not keep limits per minute used up for longer', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const counters = openMemoryCounters();
  const ask = (callId: string) =>
    counters.hold({
      callId,
      owner: 'gateway-1',
      organization: 'default/acme',
      workload: 'default/app',
      at: Date.now(),
      periods: { day: '2026-11-21', month: '2026-11' },
      amount: 1n,
      tokens: 1,
      draft: '{}',
      requestsPerMinute: 1,
    });
  expect((await ask('c1')).kind).toBe('granted');
  vi.setSystemTime(Date.now() - 3_600_000);
  const refused = await ask('c2');
  expect(refused).toMatchObject({ kind: 'refused', by: 'requests' });
  expect('retryAfterMs' in refused ? refused.retryAfterMs : undefined).toBeLessThanOrEqual(61_000);
});
