import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditRow } from '#/seal/row.ts';
import { expectBooksToAgree, startStack, type Stack } from '../failure/stack.ts';
import { chat, hang, json } from '../harness/answers.ts';
import type { Answer } from '../harness/exchange.ts';
import { newKey, resource, type GatewayProcess } from '../harness/gateway.ts';
import { startHooks } from '../harness/k6-hooks.ts';
import { runK6, type K6Run } from '../harness/k6.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** The scripts of this folder, run by k6 against two gateways before two providers, of which one fails in mid-run. */

const OPEN_SECONDS = 2;
/** The least that a workload may set. */
const PATIENCE_SECONDS = 10;
const CLIENTS = 4;
/** Nano-euro a call. */
const PRICE = 10_000_000n;
/** Faults in a row, until a gateway leaves the endpoint alone. */
const NOTICED_AFTER = 5;
/** Calls a second of a run. */
const RATE = 40;

/** How the failing provider fails, one model each, so that both can be watched at once. */
const FAULTS = {
  refusing: json({ error: { message: 'on fire' } }, 503),
  stalling: hang(),
} as const satisfies Readonly<Record<string, Answer>>;
type Fault = keyof typeof FAULTS;

const WELL = chat({ content: ['Hel', 'lo.'] });
const cleanup = new AsyncDisposableStack();
const broken = new Set<string>();
const brokenAt = new Map<Fault, number>();
const mendedAt = new Map<Fault, number>();
const keys = Array.from({ length: CLIENTS }, newKey);
let stack: Stack;
let failing: Upstream;
let healthy: Upstream;
let gateways: readonly GatewayProcess[];
let env: Readonly<Record<string, string>>;
let runs: Readonly<Record<Fault, K6Run>>;
let rows: readonly AuditRow[];
let calls = 0;

beforeAll(async () => {
  healthy = await startUpstream(WELL);
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
      ...Object.keys(FAULTS).map((model) =>
        resource('ModelAlias', model, {
          alias: `gw/${model}`,
          strategy: 'Weighted',
          targets: [{ model: `upstream/${model}` }, { model: `healthy/${model}` }],
        }),
      ),
      ...keys.map((key, index) =>
        resource('VirtualKey', `client-${index}`, {
          workloadRef: { name: 'app' },
          hash: { algorithm: 'SHA256', value: hash('sha256', key, 'hex') },
        }),
      ),
    ],
  });
  cleanup.defer(() => stack[Symbol.asyncDispose]());
  failing = stack.upstream;
  failing.respond((exchange) => {
    const { model } = JSON.parse(exchange.request.body) as { readonly model: string };
    return (broken.has(model) ? FAULTS[model as Fault] : WELL)(exchange);
  });
  gateways = [stack.gateway, await stack.another()];
  env = {
    GW_URL: gateways.map(({ url }) => url).join(','),
    GW_KEY: keys.join(','),
    GW_TIMEOUT: String(PATIENCE_SECONDS + 20),
    GW_SLOWEST: String(PATIENCE_SECONDS + 5),
  };
  const [refusing, stalling] = await Promise.all([
    // Seconds lie between what is told apart, so that a machine that is slow to begin fails nothing.
    steer('refusing', { seconds: 16, failsAt: 4, window: 5, mendsAt: 12, shareInWindow: 0, share: 0 }),
    steer('stalling', { seconds: 30, failsAt: 4, window: 17, mendsAt: 25, shareInWindow: 0.5, share: 0.1 }),
  ]);
  runs = { refusing, stalling };
  rows = await ledgerRows(stack.databaseUrl, calls);
}, 120_000);
afterAll(() => cleanup.disposeAsync());

interface Plan {
  readonly seconds: number;
  readonly failsAt: number;
  readonly window: number;
  readonly mendsAt: number;
  readonly shareInWindow: number;
  readonly share: number;
}

async function steer(fault: Fault, plan: Plan): Promise<K6Run> {
  await using hooks = await startHooks({
    break() {
      broken.add(fault);
      brokenAt.set(fault, Date.now());
    },
    mend() {
      broken.delete(fault);
      mendedAt.set(fault, Date.now());
    },
  });
  return counted(
    await runK6('steer.ts', {
      ...env,
      GW_MODEL: `gw/${fault}`,
      GW_RATE: String(RATE),
      GW_SECONDS: String(plan.seconds),
      GW_FAILS_AT: String(plan.failsAt),
      GW_WINDOW: String(plan.window),
      GW_MENDS_AT: String(plan.mendsAt),
      GW_WINDOW_SHARE: String(plan.shareInWindow),
      GW_SHARE: String(plan.share),
      GW_BREAK_URL: hooks.address('break'),
      GW_MEND_URL: hooks.address('mend'),
    }),
  );
}

function counted(run: K6Run): K6Run {
  calls += run.metrics['gw_calls']?.count ?? 0;
  return run;
}

function expectHeld(run: K6Run): void {
  expect(run.crossed, run.output).toEqual([]);
  expect(run.code, run.output).toBe(0);
}

const rowsOf = (fault: Fault): readonly AuditRow[] => rows.filter(({ model }) => model === `gw/${fault}`);
const endOf = (row: AuditRow): number => Date.parse(row.at) + row.duration_ms;
const asked = (row: AuditRow, provider: string): number =>
  row.attempts.filter((attempt) => attempt.provider === provider).length;

/** When a gateway had seen so many faults in a row that it left the provider alone, by its own rows; not later. */
function openedAt(mine: readonly AuditRow[]): number {
  let inARow = 0;
  for (const row of mine.toSorted((a, b) => endOf(a) - endOf(b))) {
    const attempts = row.attempts.filter(({ provider }) => provider === 'upstream');
    const faults = attempts.filter(({ status }) => status === undefined || status >= 500).length;
    if (attempts.length > faults) inARow = 0;
    else inARow += faults;
    if (inARow >= NOTICED_AFTER) return endOf(row);
  }
  return Number.POSITIVE_INFINITY;
}

describe.each(['refusing', 'stalling'] as const)(
  'a provider that is %s in mid-run, under k6 over two gateways',
  (fault) => {
    test('holds every threshold, over all and for each client, before, in and after the window', () => {
      const { metrics } = runs[fault];
      expectHeld(runs[fault]);
      for (let client = 0; client < CLIENTS; client++) {
        for (const phase of ['window', 'after']) {
          const { passes = 0, fails = 0 } = metrics[`gw_errors{client:${client},phase:${phase}}`] ?? {};
          expect(passes + fails, `client ${client}, ${phase}`).toBeGreaterThan(10);
        }
      }
    });

    test('is asked as well as the other one while it is well', () => {
      const before = rowsOf(fault).filter((row) => endOf(row) < (brokenAt.get(fault) ?? 0));
      expect(new Set(before.map(({ provider }) => provider))).toEqual(new Set(['upstream', 'healthy']));
      expect(before.every(({ outcome }) => outcome === 'served')).toBe(true);
    });

    test('is left alone by each gateway once it has seen five faults: only looks follow until it is mended', () => {
      const strands = new Set(rowsOf(fault).map(({ strand }) => strand));
      expect(strands.size).toBe(gateways.length);
      const mended = mendedAt.get(fault) ?? 0;
      for (const strand of strands) {
        const mine = rowsOf(fault).filter((row) => row.strand === strand);
        const opened = openedAt(mine);
        expect(opened).toBeGreaterThan(brokenAt.get(fault) ?? Number.POSITIVE_INFINITY);
        expect(opened).toBeLessThan(mended);
        const later = mine.filter(({ at }) => Date.parse(at) > opened && Date.parse(at) < mended);
        const steered = later.filter((row) => asked(row, 'upstream') === 0);
        expect(later.length).toBeGreaterThan(RATE / gateways.length);
        expect(steered.every(({ provider }) => provider === 'healthy')).toBe(true);
        // One more than fit: a call's row says when it came, not when its turn at the provider came.
        const looks = Math.ceil((mended - opened) / 1000 / OPEN_SECONDS) + 1;
        expect(later.length - steered.length).toBeLessThanOrEqual(looks);
      }
    });

    test('is taken up again once it is mended', () => {
      const mended = mendedAt.get(fault) ?? Number.POSITIVE_INFINITY;
      for (const strand of new Set(rowsOf(fault).map((row) => row.strand))) {
        const served = rowsOf(fault).filter(
          (row) => row.strand === strand && Date.parse(row.at) > mended && row.provider === 'upstream',
        );
        expect(served.filter(({ outcome }) => outcome === 'served').length).toBeGreaterThan(1);
      }
    });
  },
);

describe('of what a failing provider costs', () => {
  test('no client is told where another provider could be asked', () => {
    expect(rowsOf('refusing').filter(({ outcome }) => outcome !== 'served')).toEqual([]);
  });

  test('only calls that stalled are lost, and each client bears its share of them', () => {
    const lost = rowsOf('stalling').filter(({ outcome }) => outcome !== 'served');
    const share = lost.length / CLIENTS;
    expect(new Set(lost.map(({ code, provider }) => `${code} ${provider}`))).toEqual(
      new Set(['upstream_timeout upstream']),
    );
    expect(share).toBeGreaterThan(NOTICED_AFTER);
    const clients = Object.groupBy(lost, ({ key }) => key);
    expect(Object.keys(clients)).toHaveLength(CLIENTS);
    // Which target a call is sent to is left to chance, each time anew.
    const most = share + 6 * Math.sqrt(share);
    for (const theirs of Object.values(clients)) expect(theirs?.length).toBeLessThanOrEqual(most);
  });
});

describe('the other scripts', () => {
  test('smoke.ts: each gateway answers each key on both surfaces, buffered and streamed', async () => {
    const run = counted(await runK6('smoke.ts', { ...env, GW_MODEL: 'healthy/m' }));
    expectHeld(run);
    expect(run.metrics['gw_calls']?.count).toBe(gateways.length * CLIENTS * 4);
  });

  test('streams.ts: many streams at once come to their ends', async () => {
    const run = counted(
      await runK6('streams.ts', { ...env, GW_MODEL: 'healthy/m', GW_STREAMS: '20', GW_SECONDS: '3' }),
    );
    expectHeld(run);
    expect(run.metrics['gw_calls']?.count).toBeGreaterThan(20);
  });

  test.each([
    ['ramp.ts', { GW_RATE: '40', GW_SECONDS: '3' }],
    ['soak.ts', { GW_RATE: '20', GW_SECONDS: '3' }],
  ])('%s runs', async (script, its) => {
    const run = counted(
      await runK6(script, { ...env, GW_MODEL: 'healthy/m', GW_P95_MS: '20000', GW_P99_MS: '20000', ...its }),
    );
    expectHeld(run);
    expect(run.metrics['gw_calls']?.count).toBeGreaterThan(20);
  });

  test('a run against a provider that only fails crosses its thresholds, and says which', async () => {
    broken.add('refusing');
    const run = counted(await runK6('smoke.ts', { ...env, GW_MODEL: 'upstream/refusing' }));
    broken.delete('refusing');
    expect(run.code).toBe(99);
    expect(run.crossed).toContain('gw_errors: rate==0');
  });

  test('a run that is not told where to go says so', async () => {
    await expect(runK6('smoke.ts', { GW_KEY: 'any' })).rejects.toThrow('GW_URL is not set');
  });
});

describe('the books of all runs', () => {
  test('hold one row a call, and each attempt once that a provider was asked', async () => {
    rows = await ledgerRows(stack.databaseUrl, calls);
    expect(rows).toHaveLength(calls);
    expect(new Set(rows.map(({ call_id }) => call_id)).size).toBe(calls);
    const attempts = (provider: string): number => rows.reduce((sum, row) => sum + asked(row, provider), 0);
    expect([attempts('upstream'), attempts('healthy')]).toEqual([failing.requests.length, healthy.requests.length]);
  });

  test('bill no call twice: the price for what was served or may have run, nothing else, and the counters agree', async () => {
    for (const row of rows) {
      const owed = row.outcome === 'served' || row.code === 'upstream_timeout' ? PRICE : 0n;
      expect([row.outcome, row.code, row.cost_nano_eur]).toEqual([row.outcome, row.code, String(owed)]);
    }
    const billed = rows.reduce((sum, row) => sum + BigInt(row.cost_nano_eur), 0n);
    expect(await expectBooksToAgree(stack, calls)).toBe(billed);
  });
});
