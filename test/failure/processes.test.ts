import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { startGateway } from '../harness/gateway.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { countersOf, expectBooksToAgree, startStack, type Stack } from './stack.ts';

/** One gateway of several processes: GW_PROCESSES. */

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.[Symbol.asyncDispose]();
  stack = undefined;
});

function processesOf({ gateway: { pid } }: Stack): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.trim().split(' ').filter(Boolean).map(Number);
}

const textOf = async (address: string): Promise<string> => (await fetch(address)).text();

/** Asks over a connection of its own, as many clients do: each goes to one of the processes. */
function askApart({ ask, key }: Stack): Promise<Response> {
  const headers = { connection: 'close', 'content-type': 'application/json' };
  return ask({}, { headers: { ...headers, authorization: `Bearer ${key}` } });
}

describe('a gateway of four processes', () => {
  test('spends one budget to the nano-euro, and shows the state of all of them', async () => {
    stack = await startStack({
      prices: [{ model: 'upstream/*', unit: 'Call', input: '0.01' }],
      workload: { budget: { amount: '1', period: 'Total' } },
      env: { GW_PROCESSES: '4' },
    });
    expect(processesOf(stack)).toHaveLength(4);
    expect((await fetch(`${stack.gateway.adminUrl}/readyz`)).status).toBe(200);
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const answer = await askApart(stack!);
        await answer.text();
        return answer.status;
      }),
    );
    for (const status of statuses) expect(status).toBeOneOf([200, 402, 503]);
    let served = statuses.filter((status) => status === 200).length;
    expect(served).toBeLessThanOrEqual(100);
    for (let refused = 0; refused < 2;) {
      const answer = await askApart(stack);
      await answer.text();
      if (answer.status === 200) served++;
      refused = answer.status === 402 && (await countersOf(stack.redis)).holds.length === 0 ? refused + 1 : 0;
      if (answer.status !== 200) await sleep(1100);
    }
    expect(served).toBe(100);
    expect(await expectBooksToAgree(stack, 100)).toBe(1_000_000_000n);
    // Each process has a strand of its own.
    expect(new Set((await ledgerRows(stack.databaseUrl)).map(({ strand }) => strand)).size).toBe(4);
    const metrics = await textOf(`${stack.gateway.adminUrl}/metrics`);
    for (const number of [1, 2, 3, 4]) expect(metrics).toContain(`gw_open_calls{process="${number}"} 0`);
    expect(metrics.match(/# TYPE gw_open_calls /g)).toHaveLength(1);
    expect(await stack.gateway.stop()).toBe(0);
  }, 400_000);

  test('starts another one for one that is killed under load; its calls are closed and their holds given back', async () => {
    stack = await startStack({
      prices: [{ model: 'upstream/*', input: '3', output: '15' }],
      env: { GW_PROCESSES: '4' },
    });
    const { upstream } = stack;
    upstream.respond(chat({ content: Array.from({ length: 20 }, () => 'word ') }));
    const killed = processesOf(stack)[1]!;
    const load = Array.from({ length: 80 }, async () => (await askApart(stack!)).text());
    const over = Promise.allSettled(load);
    await upstream.request(20);
    process.kill(killed, 'SIGKILL');
    await over;
    await expect.poll(() => processesOf(stack!).length, { timeout: 30_000 }).toBe(4);
    expect(processesOf(stack)).not.toContain(killed);
    await expect
      .poll(async () => (await textOf(`${stack!.gateway.adminUrl}/metrics`)).match(/^gw_open_calls/gm)?.length, {
        timeout: 30_000,
      })
      .toBe(4);
    expect((await askApart(stack)).status).toBe(200);
    await expect.poll(async () => (await countersOf(stack!.redis)).holds, { timeout: 60_000 }).toEqual([]);
    await expectBooksToAgree(stack, upstream.requests.length);
    expect(stack.gateway.log.some((line) => line.includes('"process.died"'))).toBe(true);
    expect(await stack.gateway.stop()).toBe(0);
  }, 200_000);
});

test('a process that cannot start ends all of them, with the reason', async () => {
  stack = await startStack();
  const env = { GW_PROCESSES: '2', GW_CONTENT_KEY_FILE: '/dev/null/keys' };
  await expect(stack.another(env)).rejects.toThrow(/process 1 could not start and ended with 1/);
}, 60_000);

test('several processes do not share a port with another gateway', async () => {
  stack = await startStack({ env: { GW_PROCESSES: '2' } });
  const { port } = new URL(stack.gateway.url);
  await expect(stack.another({ GW_PROCESSES: '2', PORT: port })).rejects.toThrow(/EADDRINUSE/);
  expect((await askApart(stack)).status).toBe(200);
}, 120_000);

test('several processes on embedded stores are refused, and the error names what they need', async () => {
  const told = startGateway({ resources: [], env: { GW_PROCESSES: '2' } });
  await expect(told).rejects.toThrow(/GW_PROCESSES above 1 needs REDIS_URL and DATABASE_URL/);
});
