import { afterEach, expect, test } from 'vitest';
import type { AuditRow } from '#/seal/row.ts';
import { expectBooksToAgree, startStack, type Stack } from '../failure/stack.ts';
import { freePort } from '../harness/free-port.ts';
import { resource } from '../harness/gateway.ts';
import { ledgerRows, rowOf } from '../harness/ledger-rows.ts';
import { startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { startPostgres } from '../harness/postgres.ts';
import { EVERYTHING, node, Peers } from './peers.ts';
import { ask, codeOf, type Sent } from './world.ts';

/** What tool calls need dies while they run: one row for each call, and the right money. */

const CALLS = 20;
const PRICE = '10000000';
const IN_FLIGHT = ['legacy', 'modern'] as const;
let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

interface Scene {
  readonly stack: Stack;
  readonly server: McpStandIn;
  /** Resolves when so many calls have arrived since the last time. */
  readonly arrived: (count: number) => Promise<void>;
  /** Answers the calls that wait. */
  readonly release: () => void;
}

/** A stack before a server that answers every other call only when the test says so. */
async function startScene(era: 'legacy' | 'modern', options: Parameters<typeof startStack>[0] = {}): Promise<Scene> {
  let waiting: (() => void)[] = [];
  let calls = 0;
  let heard: (() => void) | undefined;
  const server = cleanup.use(
    await startMcpServer({
      era,
      call: async () => {
        calls += 1;
        heard?.();
        if (calls % 2 === 0) await new Promise<void>((resolve) => waiting.push(resolve));
        return { content: [{ type: 'text', text: 'done' }] };
      },
    }),
  );
  const stack = cleanup.use(
    await startStack({
      prices: [{ model: 'mcp/*', unit: 'Call', input: '0.01' }],
      more: () => [resource('MCPServer', 'crm', { endpoint: { url: server.url }, jurisdiction: 'US' })],
      ...options,
    }),
  );
  return {
    stack,
    server,
    arrived: (count) => {
      const goal = calls + count;
      return new Promise<void>((resolve) => (heard = () => calls >= goal && resolve()));
    },
    release: () => {
      for (const done of waiting) done();
      waiting = [];
    },
  };
}

function call(stack: Pick<Stack, 'gateway' | 'key'>, name = 'echo', args: object = {}): Promise<Sent> {
  const path = `/v1/mcp/${name === 'echo' ? 'crm' : 'everything'}`;
  return ask(stack, 'modern', path, 'tools/call', { name, arguments: args });
}

const many = (stack: Stack): Promise<Sent>[] => Array.from({ length: CALLS }, () => call(stack));
const toolRows = async (stack: Stack, least: number): Promise<AuditRow[]> =>
  (await ledgerRows(stack.databaseUrl, least)).filter(({ surface }) => surface === 'mcp');

/** Every call has cost its price, and reached the server once. */
async function expectRight({ stack, server }: Scene, calls: number, outcomes: readonly string[]): Promise<void> {
  await expectBooksToAgree(stack, calls);
  const rows = await toolRows(stack, calls);
  expect(rows).toHaveLength(calls);
  expect(server.of('tools/call')).toHaveLength(calls);
  for (const { cost_nano_eur: cost, held_nano_eur: held } of rows) expect([cost, held]).toEqual([PRICE, PRICE]);
  expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(outcomes));
}

test.each(IN_FLIGHT)(
  'a gateway killed while a server of the %s era works',
  async (era) => {
    const scene = await startScene(era);
    const { stack, arrived } = scene;
    const all = arrived(CALLS);
    const calling = Promise.allSettled(many(stack));
    await all;
    await stack.gateway.kill();
    await calling;
    scene.release();
    stack.gateway = await stack.another();
    expect((await call(stack)).status).toBe(200);
    await expectRight(scene, CALLS + 1, ['served', 'abandoned']);
  },
  120_000,
);

test.each(IN_FLIGHT)(
  'a gateway that drains answers the calls that a server of the %s era works on',
  async (era) => {
    const scene = await startScene(era, { env: { GW_LEAVE_SECONDS: '0', GW_DRAIN_SECONDS: '30' } });
    const { stack, arrived } = scene;
    const all = arrived(CALLS);
    const calling = Promise.all(many(stack));
    await all;
    const ended = stack.gateway.stop();
    await expect.poll(() => stack.gateway.log.some((line) => line.includes('"drain.started"'))).toBe(true);
    scene.release();
    expect((await calling).map(({ status }) => status)).toEqual(Array.from({ length: CALLS }, () => 200));
    expect(await ended).toBe(0);
    stack.gateway = await stack.another();
    await expectRight(scene, CALLS, ['served']);
  },
  120_000,
);

test('a gateway whose grace is over gives up what still runs: not billed, and no client is asked to send it again', async () => {
  const scene = await startScene('legacy', { env: { GW_LEAVE_SECONDS: '0', GW_DRAIN_SECONDS: '1' } });
  const { stack, server, arrived } = scene;
  const all = arrived(CALLS);
  const calling = Promise.all(many(stack));
  await all;
  await stack.gateway.stop();
  const givenUp = (await calling).filter((sent) => codeOf(sent) !== '');
  for (const sent of givenUp) {
    const { data, message } = sent.body.error!;
    expect([codeOf(sent), data?.['retry_after']]).toEqual(['server_restarting', undefined]);
    expect(sent.headers.get('retry-after')).toBeNull();
    expect(message).toMatch(/may have run/);
  }
  expect(givenUp).toHaveLength(CALLS / 2);
  stack.gateway = await stack.another();
  await expectBooksToAgree(stack, CALLS);
  const rows = await toolRows(stack, CALLS);
  expect(rows).toHaveLength(CALLS);
  for (const { outcome, cost_nano_eur: cost } of rows) expect(cost).toBe(outcome === 'served' ? PRICE : '0');
  expect(server.of('notifications/cancelled')).toHaveLength(CALLS / 2);
}, 120_000);

test('Redis killed: calls that run are answered and billed, new ones are refused and not sent', async () => {
  const scene = await startScene('legacy');
  const { stack, server, arrived } = scene;
  const all = arrived(CALLS);
  const calling = Promise.all(many(stack));
  await all;
  await stack.redis.kill();
  const refused = await call(stack);
  expect([refused.status, codeOf(refused)]).toEqual([503, 'limits_unavailable']);
  scene.release();
  expect(new Set((await calling).map(({ status }) => status))).toEqual(new Set([200]));
  expect(server.of('tools/call')).toHaveLength(CALLS);
  await stack.redis.restart({ empty: true });
  await expect.poll(async () => (await call(stack)).status, { timeout: 30_000 }).toBe(200);
  await expectBooksToAgree(stack, CALLS + 2);
  const rows = await toolRows(stack, CALLS + 2);
  const served = rows.filter(({ outcome }) => outcome === 'served');
  expect(served).toHaveLength(CALLS + 1);
  expect(server.of('tools/call')).toHaveLength(CALLS + 1);
  for (const { cost_nano_eur: cost, outcome } of rows) expect(cost).toBe(outcome === 'served' ? PRICE : '0');
}, 120_000);

test('PostgreSQL killed: calls are answered, and their rows are there when it is back', async () => {
  const postgres = await startPostgres({ control: true });
  cleanup.defer(() => postgres.stop());
  const scene = await startScene('modern', { databaseUrl: await postgres.createDatabase() });
  const { stack, arrived } = scene;
  const all = arrived(CALLS);
  const calling = Promise.all(many(stack));
  await all;
  await postgres.kill();
  scene.release();
  expect(new Set((await calling).map(({ status }) => status))).toEqual(new Set([200]));
  expect((await call(stack)).status).toBe(200);
  await postgres.restart();
  await expectRight(scene, CALLS + 1, ['served']);
}, 120_000);

test('a server killed before, during and after calls: errors that say so, and calls again when it is back', async () => {
  const port = await freePort();
  const peers = cleanup.use(new Peers());
  const begin = (): Promise<string> =>
    peers.start(node(EVERYTHING), ['streamableHttp'], /listening|running|started/i, { PORT: String(port) });
  await begin();
  const stack = cleanup.use(
    await startStack({
      prices: [{ model: 'mcp/*', unit: 'Call', input: '0.01' }],
      more: () => [
        resource('MCPServer', 'everything', { endpoint: { url: `http://127.0.0.1:${port}/mcp` }, jurisdiction: 'US' }),
      ],
    }),
  );
  const sum = { a: 2, b: 3 };
  // So many that the failures are few: a server that mostly fails is left alone for a while.
  for (let before = 0; before < 20; before++) expect((await call(stack, 'get-sum', sum)).status).toBe(200);
  const running = Array.from({ length: 3 }, () =>
    call(stack, 'trigger-long-running-operation', { duration: 60, steps: 60 }),
  );
  await new Promise((resolve) => setTimeout(resolve, 1000));
  peers[Symbol.dispose]();
  const broken = await Promise.all(running);
  const down = await call(stack, 'get-sum', sum);
  await begin();
  // Its sessions are gone with it, and the gateway opens another.
  const again = await call(stack, 'get-sum', sum);
  expect(again.body.result?.content?.[0]?.text).toContain('5');
  const costs = async (sent: Sent): Promise<readonly unknown[]> => {
    const row = await rowOf(stack.databaseUrl, sent.headers.get('x-request-id'));
    return [codeOf(sent), row.outcome, row.cost_nano_eur];
  };
  for (const sent of [...broken, down]) expect(await costs(sent)).toEqual(['upstream_error', 'failed', '0']);
  expect(await costs(again)).toEqual(['', 'served', PRICE]);
  await expectBooksToAgree(stack, 25);
}, 120_000);
