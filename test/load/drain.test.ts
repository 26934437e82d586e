import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectBooksToAgree, startStack, type Stack } from '../failure/stack.ts';
import { startHooks } from '../harness/k6-hooks.ts';
import { runK6, type K6Run } from '../harness/k6.ts';
import { paced } from '../harness/paced-answer.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { startService, type Service } from '../harness/kubernetes-service.ts';

/** drain.ts against gateways that are replaced as a Deployment does it. How long five minutes are: test/containers. */
describe('gateways replaced under k6', () => {
  const cleanup = new AsyncDisposableStack();
  let stack: Stack;
  let service: Service;

  beforeAll(async () => {
    stack = cleanup.use(await startStack({ env: { GW_LEAVE_SECONDS: '3', GW_DRAIN_SECONDS: '5' } }));
    stack.upstream.respond(paced);
    service = cleanup.use(await startService());
    service.endpoints = [portOf(stack.gateway.url)];
  });
  afterAll(() => cleanup.disposeAsync());

  /** What is told to end is replaced first; the news of its end takes a while. */
  const run = async (env: Readonly<Record<string, string>>, news: 'in time' | 'never'): Promise<K6Run> => {
    await using hooks = await startHooks({
      restart: () =>
        void (async () => {
          const old = stack.gateway;
          stack.gateway = await stack.another();
          service.endpoints = [...service.endpoints, portOf(stack.gateway.url)];
          const left = old.stop();
          await new Promise((resolve) => setTimeout(resolve, 1000));
          if (news === 'in time') service.endpoints = service.endpoints.filter((port) => port !== portOf(old.url));
          await left;
        })(),
    });
    return await runK6('drain.ts', {
      GW_URL: service.url,
      GW_KEY: stack.key,
      // Two of these in a row, on a connection that was there before, fit into the grace.
      GW_MODEL: 'upstream/2',
      GW_STREAMS: '6',
      GW_RATE: '3',
      GW_SLOWEST: '20',
      GW_RESTARTS_AT: '6',
      GW_SECONDS: '16',
      GW_RESTART_URL: hooks.address('restart'),
      ...env,
    });
  };

  test('no call fails, and streams outlive it; each call has its one row', async () => {
    const { crossed, code, output, metrics } = await run({}, 'in time');
    expect(crossed, output).toEqual([]);
    expect(code, output).toBe(0);
    expect(metrics['gw_ended']).toBeUndefined();
    const calls = metrics['gw_calls']?.count ?? 0;
    expect(await ledgerRows(stack.databaseUrl, calls)).toHaveLength(calls);
    await expectBooksToAgree(stack, calls);
  }, 120_000);

  test('a stream that is longer than its grace is ended for it, and no error; before its grace, it is one', async () => {
    // No stream begins once they are ended: it would be refused on the connection that was there before.
    const longer = { GW_MODEL: 'upstream/25', GW_RATE: '0.1', GW_TIMEOUT: '60', GW_SECONDS: '12' };
    const after = await run({ ...longer, GW_GRACE: '5' }, 'in time');
    expect(after.crossed, after.output).toEqual(['gw_outlived: count>0']);
    expect(after.metrics['gw_ended']?.count).toBeGreaterThan(0);
    const before = await run({ ...longer, GW_GRACE: '300' }, 'in time');
    expect(before.code).toBe(99);
    expect(before.crossed).toContain('gw_errors: rate==0');
  }, 240_000);

  test('connections that still go to a gateway that has ended fail the run', async () => {
    const { code, crossed } = await run({}, 'never');
    expect(code).toBe(99);
    expect(crossed).toContain('gw_errors: rate==0');
  }, 120_000);
});

function portOf(url: string): number {
  return Number(new URL(url).port);
}
