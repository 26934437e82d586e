import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { tenant } from '../harness/gateway.ts';
import { runGwctl, type GwctlRun } from '../harness/gwctl.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { countersOf, expectBooksToAgree, startStack, type Stack } from './stack.ts';

const PER_CALL = { prices: [{ model: 'upstream/*', unit: 'Call', input: '0.25' }] };
const SECRET = 'a secret of thirty-two characters';

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.[Symbol.asyncDispose]();
  stack = undefined;
});

function gwctl({ databaseUrl, redis, gateway }: Stack, ...args: readonly string[]): Promise<GwctlRun> {
  const env = { DATABASE_URL: databaseUrl, REDIS_URL: redis.url, GW_CONFIG_DIR: gateway.configDir, USER: 'ada' };
  return runGwctl(args, { env });
}

const add = (on: Stack, amount: string, reference: string): Promise<GwctlRun> =>
  gwctl(on, 'credit', 'add', '--organization', 'default/acme', `--amount=${amount}`, '--reference', reference);

/** Asks until the status comes, which takes as long as gateways take to notice. */
async function untilStatus({ ask }: Stack, status: number): Promise<Response> {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await ask();
    if (answer.status === status) return answer;
    await answer.text();
    await sleep(50);
  }
  throw new Error(`never answered ${status}`);
}

describe('an organization', () => {
  const DAY = 86_400_000;
  const iso = (days: number): string => new Date(Date.now() + days * DAY).toISOString();

  test.each([
    ['without a plan', { type: 'None' }, /has no active plan\./],
    ['whose plan has ended', { activeFrom: iso(-2), activeUntil: iso(-1) }, /ended at/],
    ['whose plan is to come', { type: 'Prepaid', activeFrom: iso(1) }, /begins at/],
  ])('%s is refused with 402 before its requests are read, and sealed', async (_, plan, message) => {
    stack = await startStack({ ...PER_CALL, organization: { plan } });
    // A body that is announced and never sent: who waits for it never answers.
    const asking = httpRequest(`${stack.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json', 'content-length': 1000 },
    });
    asking.flushHeaders();
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(402);
    const body = JSON.parse((await answer.toArray()).join('')) as { error: { message: string } };
    expect(body).toMatchObject({ error: { type: 'insufficient_quota', code: 'insufficient_quota' } });
    expect(body.error.message).toMatch(message);
    asking.destroy();
    const row = await rowOf(stack.databaseUrl, String(answer.headers['x-request-id']));
    expect(row).toMatchObject({ outcome: 'refused', step: 'admit', status: 402, cost_nano_eur: '0', model: null });
    const file = await fetch(`${stack.gateway.url}/v1/files`, { headers: { authorization: `Bearer ${stack.key}` } });
    expect(file.status).toBe(402);
    expect(stack.upstream.requests).toHaveLength(0);
  });

  test('whose plan is active calls', async () => {
    stack = await startStack({ ...PER_CALL, organization: { plan: { activeFrom: iso(-1), activeUntil: iso(1) } } });
    expect((await stack.ask()).status).toBe(200);
  });
});

test('prepaid: nothing without credit; what is added counts within seconds, on every gateway, and after lost data', async () => {
  stack = await startStack({ ...PER_CALL, organization: { plan: { type: 'Prepaid' } } });
  const refused = await stack.ask();
  expect(refused.status).toBe(402);
  expect(((await refused.json()) as { error: { message: string } }).error.message).toMatch(/prepaid credit/);
  const second = await stack.another();
  expect((await add(stack, '1', 'invoice 1')).out).toBe('entry 1 of default/acme: 1 EUR, 1 in total\n');
  expect((await add(stack, '1', 'invoice 1')).out).toMatch(/it already exists/);
  expect(await add(stack, '2', 'invoice 1')).toMatchObject({ status: 2, out: '' });
  await untilStatus(stack, 200);
  const first = stack.gateway;
  stack.gateway = second;
  expect((await stack.ask()).status).toBe(200);
  await expectBooksToAgree(stack, 3);
  expect((await gwctl(stack, 'credit', 'balance', '--organization', 'default/acme')).out).toBe(
    'default/acme: 1 EUR paid in by 1 entries, 0.5 spent, 0.5 left\n',
  );
  // A correction takes back what is not spent, and more.
  expect((await add(stack, '-0.75', 'correction')).status).toBe(0);
  await expect.poll(async () => (await countersOf(stack!.redis)).credit).toEqual({ number: 2, sum: 250_000_000n });
  stack.gateway = first;
  await untilStatus(stack, 402);
  await add(stack, '0.5', 'invoice 2');
  await untilStatus(stack, 200);
  expect((await untilStatus(stack, 402)).headers.get('x-request-id')).not.toBeNull();
  await stack.redis.kill();
  await stack.redis.restart({ empty: true });
  await untilStatus(stack, 402);
  await add(stack, '0.25', 'invoice 3');
  await untilStatus(stack, 200);
  expect(await expectBooksToAgree(stack, 4)).toBe(1_000_000_000n);
  expect(await countersOf(stack.redis)).toMatchObject({ credit: { number: 4, sum: 1_000_000_000n } });
  const list = await gwctl(stack, 'credit', 'list', '--organization', 'default/acme', '--json');
  expect(JSON.parse(list.out)).toMatchObject([
    { number: 1, amount_nano_eur: '1000000000', reference: 'invoice 1', actor: 'ada' },
    { number: 2, amount_nano_eur: '-750000000', sum_nano_eur: '250000000' },
    { number: 3 },
    { number: 4, sum_nano_eur: '1000000000' },
  ]);
}, 90_000);

test('alerts: each threshold once over two gateways, posted and signed, tried again, and no call waits for it', async () => {
  const posted: { body: string; signature: string }[] = [];
  let attempts = 0;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    attempts++;
    const body = (await request.toArray()).join('');
    if (attempts === 1) return void response.writeHead(500).end();
    posted.push({ body, signature: String(request.headers['x-gw-signature']) });
    response.end();
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    stack = await startStack({
      ...PER_CALL,
      workload: { budget: { amount: '1', period: 'Monthly' }, alerts: { percent: [100, 50, 75] } },
      env: { GW_ALERT_WEBHOOK_URL: `http://127.0.0.1:${port}/`, GW_ALERT_WEBHOOK_SECRET: SECRET },
    });
    const first = stack.gateway;
    const second = await stack.another();
    for (let call = 0; call < 3; call++) {
      stack.gateway = call % 2 === 0 ? first : second;
      expect((await stack.ask()).status).toBe(200);
    }
    const alerts = (): readonly Record<string, unknown>[] =>
      posted.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    await expect
      .poll(
        () =>
          alerts()
            .map(({ percent }) => Number(percent))
            .toSorted((a, b) => a - b),
        { timeout: 30_000 },
      )
      .toEqual([50, 75]);
    for (const gateway of [first, second, first]) {
      stack.gateway = gateway;
      await (await stack.ask()).text();
    }
    const told = (): unknown[] =>
      alerts()
        .map(({ event, percent }) => `${String(event)} ${String(percent)}`)
        .toSorted();
    await expect.poll(told, { timeout: 30_000 }).toEqual(['reached 100', 'reached 50', 'reached 75', 'refused 100']);
    const { id, at, period, ...facts } = alerts().find(({ percent }) => percent === 75)!;
    expect(facts).toEqual({
      type: 'money.alert',
      limit: 'budget',
      event: 'reached',
      percent: 75,
      organization: 'default/acme',
      workload: 'default/app',
      amount_nano_eur: '1000000000',
      spent_nano_eur: '750000000',
      left_nano_eur: '250000000',
    });
    expect(period).toBe(new Date().toISOString().slice(0, 7));
    expect(String(id)).toContain('default/app');
    expect(Date.parse(String(at))).toBeGreaterThan(Date.now() - 120_000);
    for (const { body, signature } of posted) {
      const [, seconds] = /^t=(\d+),v1=/.exec(signature)!;
      const expected = createHmac('sha256', SECRET).update(`${seconds}.${body}`).digest('hex');
      expect(signature).toBe(`t=${seconds},v1=${expected}`);
    }
    // Two more rounds of looking: nothing is said twice.
    await sleep(11_000);
    expect(told()).toHaveLength(4);
    const lines = [...first.log, ...second.log].filter((line) => line.includes('"money.alert"'));
    expect(lines).toHaveLength(4);
    const metrics = await Promise.all(
      [first, second].map(async (one) => (await fetch(`${one.adminUrl}/metrics`)).text()),
    );
    const count = metrics.join('\n').matchAll(/^gw_money_alerts_total\{.*\} (\d+)$/gm);
    expect([...count].reduce((sum, [, value]) => sum + Number(value), 0)).toBe(4);
  } finally {
    server.close();
  }
}, 120_000);

describe('gwctl reconcile', () => {
  test('agrees under load, on two gateways, while calls begin, end and hang up; so does the metric', async () => {
    stack = await startStack({
      prices: [{ model: 'upstream/*', input: '3', output: '15' }],
      workload: { budget: { amount: '500', period: 'Daily' } },
      organization: { plan: { type: 'Prepaid' }, timeZone: 'America/New_York' },
    });
    const { upstream } = stack;
    await add(stack, '1000', 'invoice 1');
    upstream.respond(chat({ content: 'words', usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 } }));
    await untilStatus(stack, 200);
    const gateways = [stack.gateway, await stack.another()];
    let over = false;
    let calls = 0;
    const load = Promise.all(
      Array.from({ length: 12 }, async (_, worker) => {
        while (!over) {
          stack!.gateway = gateways[(worker + calls++) % 2]!;
          await (await stack!.ask({ max_tokens: 64 })).text();
        }
      }),
    );
    try {
      for (let round = 0; round < 4; round++) {
        const { status, out } = await gwctl(stack, 'reconcile');
        expect(out).toMatch(/^default\/acme: agrees: 6 counters/);
        expect(status).toBe(0);
      }
    } finally {
      over = true;
      await load;
    }
    expect(calls).toBeGreaterThan(100);
    // Gateways compare by themselves, one after the other.
    const drift = async (): Promise<readonly string[]> => {
      const metrics = await Promise.all(gateways.map(async (one) => (await fetch(`${one.adminUrl}/metrics`)).text()));
      return [...new Set(metrics.join('\n').match(/^gw_money_drift_nano_eur\{.*$/gm))];
    };
    await expect.poll(drift, { timeout: 60_000 }).toEqual(['gw_money_drift_nano_eur{organization="default/acme"} 0']);
    await expectBooksToAgree(stack, calls);
  }, 120_000);

  test('names what is off, by how much, and the call behind it; repairs it', async () => {
    stack = await startStack({ ...PER_CALL, workload: { budget: { amount: '5', period: 'Total' } } });
    for (let call = 0; call < 3; call++) expect((await stack.ask()).status).toBe(200);
    await expectBooksToAgree(stack, 3);
    const raw = new Redis(stack.redis.url);
    try {
      // Until then the gateway leaves it to this test to find out.
      for (const mark of ['reconciling counters', 'days in UTC']) await raw.set(`gw:{default/acme}:mark:${mark}`, '1');
      await raw.hincrby('gw:{default/acme}:spend:total', 'w:default/app', -250_000_000);
      await raw.hincrby('gw:{default/acme}:spend:total', 'o', 3);
      const report = await gwctl(stack, 'reconcile', '--organization', 'default/acme');
      expect(report.status).toBe(1);
      expect(report.out).toMatch(/^default\/acme: DIFFERS: 6 counters, 0 open holds/);
      expect(report.out).toMatch(
        /total of organization: 3 nano-euro \(0.000000003 EUR\) too much: counter 750000003, rows 750000000, held 0/,
      );
      expect(report.out).toMatch(/total of default\/app: 250000000 nano-euro \(0.25 EUR\) too little/);
      expect(report.out).toMatch(/call [0-9a-f-]{36}: its cost of 250000000 may not be counted/);
      expect(report.out).toMatch(/no single call of the last 40 days explains this/);
      const raised = await gwctl(stack, 'reconcile', '--repair');
      expect(raised.status).toBe(1);
      expect(raised.out).toMatch(/DIFFERS(.|\n)*DIFFERS: 6 counters.*\n {2}total of organization: 3 nano-euro/);
      expect(raised.out).toContain('not changed: a row may have been lost');
      expect(raised.out.split('DIFFERS').at(-1)).not.toContain('total of default/app');
      const repaired = await gwctl(stack, 'reconcile', '--repair', '--lower');
      expect([repaired.status, repaired.out.split('\n').at(-2)]).toEqual([
        0,
        'default/acme: repaired, agrees: 6 counters, 0 open holds, 0 of them sealed',
      ]);
      expect((await gwctl(stack, 'reconcile', '--json')).out).toContain('"agrees": true');
      await expectBooksToAgree(stack, 3);
      // A gateway finds drift by itself, tells it, and puts right what is too little.
      await raw.hincrby('gw:{default/acme}:spend:total', 'o', -7);
      await raw.hincrby('gw:{default/acme}:spend:total', 'w:default/app', 9);
      await raw.del('gw:{default/acme}:mark:reconciling counters');
      await expect
        .poll(() => stack!.gateway.log.filter((line) => line.includes('"money.drift"')).length, { timeout: 30_000 })
        .toBe(2);
      await expect
        .poll(async () => (await gwctl(stack!, 'reconcile')).out, { timeout: 20_000 })
        .not.toContain('total of organization');
      const left = await gwctl(stack, 'reconcile');
      expect([left.status, left.out]).toEqual([
        1,
        expect.stringContaining('total of default/app: 9 nano-euro') as string,
      ]);
      const metrics = await (await fetch(`${stack.gateway.adminUrl}/metrics`)).text();
      expect(metrics).toContain('gw_money_drift_total{direction="too_little"} 1');
      expect(metrics).toContain('gw_money_drift_total{direction="too_much"} 1');
      expect((await gwctl(stack, 'reconcile', '--repair', '--lower')).status).toBe(0);
    } finally {
      raw.disconnect();
    }
  }, 120_000);

  test('says what it needs', async () => {
    stack = await startStack(PER_CALL);
    expect(await gwctl(stack, 'reconcile', '--organization', 'default/none')).toMatchObject({
      status: 2,
      err: expect.stringContaining('this folder has no organization') as string,
    });
    expect(
      (await gwctl(stack, 'credit', 'add', '--organization', 'default/acme', '--amount', '0', '--reference', 'x')).err,
    ).toContain('--amount takes');
    expect((await gwctl(stack, 'credit', 'list', '--organization', 'acme')).err).toContain('<namespace>/<name>');
  });
});

test('an organization that moves to another time zone has its days counted anew', async () => {
  stack = await startStack({
    ...PER_CALL,
    organization: { timeZone: 'Pacific/Kiritimati' },
    workload: { budget: { amount: '0.5', period: 'Daily' } },
  });
  expect((await stack.ask()).status).toBe(200);
  await expectBooksToAgree(stack, 1);
  stack.gateway.configure(
    tenant({
      ...PER_CALL,
      upstreamUrl: stack.upstream.url,
      key: stack.key,
      organization: { timeZone: 'Pacific/Niue', cap: { amount: '100000', period: 'Total' } },
      workload: { budget: { amount: '0.5', period: 'Daily' } },
    }),
  );
  // 25 hours apart: never the same day.
  await expect
    .poll(async () => new Set((await countersOf(stack!.redis)).spend.map(({ period }) => period)).size, {
      timeout: 20_000,
    })
    .toBeGreaterThanOrEqual(4);
  expect((await stack.ask()).status).toBe(200);
  expect((await stack.ask()).status).toBe(402);
}, 60_000);
