import { expect, inject, test } from 'vitest';
import { openRedisCounters } from '#/adapters/redis/limit-counters.ts';
import { openHold } from '../contract/limit-counters-world.ts';
import { openLink } from './link.ts';

/** A slow store is told from a store that answers wrongly: a call is granted only if its hold is there. */

test('over a link that is slow now and then, every granted call has its hold, and no other', async () => {
  const { hostname, port } = new URL(inject('redisUrl'));
  const link = await openLink(Number(port));
  const options = { keyPrefix: `replies-${process.pid}:`, commandTimeoutMs: 5_000 };
  const counters = openRedisCounters({ ...options, url: `redis://${hostname}:${link.port}` });
  try {
    await counters.ping();
    const organization = 'default/acme';
    await counters.takeOver([organization], 'gateway-1', 15_000);
    const nothing = { total: 0n, day: 0n, month: 0n };
    const periods = { day: '2026-11-21', month: '2026-11' };
    await counters.restore(organization, [], async () => ({ periods, organization: nothing, workloads: new Map() }));
    const granted: string[] = [];
    const asking: Promise<unknown>[] = [];
    for (let index = 0; index < 60; index += 1) {
      if (index % 10 === 0) link.set(index % 20 === 0 ? 'slow' : 'open');
      // Every other call asks for more than its workload's budget.
      const workloadBudget = { amount: index % 2 === 0 ? 10n ** 12n : 1n, period: 'total' } as const;
      const workload = `default/w${index % 2}`;
      const call = {
        ...openHold(`c${index}`, { organization, workload, owner: 'gateway-1', amount: 5n }),
        workloadBudget,
      };
      const asked = counters.hold(call).then(({ kind }) => {
        if (kind === 'granted') granted.push(`c${index}`);
      });
      asking.push(asked);
      await new Promise((resolve) => setTimeout(resolve, 12));
    }
    link.set('open');
    await Promise.all(asking);
    const { holds } = await counters.view(organization);
    expect(granted.toSorted()).toEqual(holds.map(({ callId }) => callId).toSorted());
    expect(granted).toHaveLength(30);
  } finally {
    await counters.close();
    await link.close();
  }
});
