import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditRow } from '#/seal/row.ts';
import { countersOf, expectBooksToAgree, startStack, type Stack } from '../failure/stack.ts';
import type { GatewayProcess } from '../harness/gateway.ts';
import { resource } from '../harness/gateway.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { ANY_ARGUMENTS, startMcpServer, type McpBehaviour, type McpStandIn } from '../harness/mcp-server.ts';
import { randomFor } from '../harness/random.ts';
import { ask, codeOf, type Sent } from './world.ts';

/** Thousands of calls at once over three gateways, until their budget is spent: every call in the books, and no more. */

/** `make test-mcp` makes 10,000; the default is fewer. */
const CALLS = Number(process.env['MCP_CALLS'] ?? 800);
/** The same seed makes the same calls. */
const SEED = Number(process.env['MCP_SEED'] ?? 20_260_728);
const AT_ONCE = 90;

/** What a tool does, how often it is called, what a call costs in nano-euro, and whether its outcome is charged. */
const TOOLS = [
  { name: 'quick', weight: 30, price: 3_000_000n, charged: true },
  { name: 'odd', weight: 20, price: 7n, charged: true },
  { name: 'slow', weight: 15, price: 5_000_001n, charged: true },
  { name: 'fails', weight: 8, price: 2_000_000n, charged: true },
  { name: 'large', weight: 2, price: 4_000_000n, charged: true },
  { name: 'late', weight: 3, price: 6_000_000n, charged: true },
  { name: 'leave', weight: 8, price: 1_000_003n, charged: true },
  { name: 'busy', weight: 4, price: 9_000_000n, charged: false },
  { name: 'resets', weight: 2, price: 8_000_000n, charged: false },
  { name: 'ruled', weight: 4, price: 11_000_000n, charged: false },
  { name: 'free', weight: 4, price: 0n, charged: true },
] as const;
type Tool = (typeof TOOLS)[number];
/** In nano-euro: about six calls in ten can be paid. */
const BUDGET = BigInt(CALLS) * 1_600_000n;

/** All that clients learn, besides results. */
const CODES = [
  'insufficient_quota',
  'result_too_large',
  'tool_arguments_denied',
  'upstream_error',
  'upstream_overloaded',
  'upstream_timeout',
];

interface Call {
  readonly id: string;
  readonly tool: Tool;
  readonly server: 'old' | 'new';
  /** Undefined where the client left. */
  sent?: Sent;
}

const cleanup = new AsyncDisposableStack();
const servers = {} as Record<Call['server'], McpStandIn>;
/** How often each call reached a server, by the call's own id: the servers' books. */
const seen = new Map<string, number>();
/** Those that wait for a call to arrive. */
const arrivals = new Map<string, () => void>();
let stack: Stack;
let gateways: GatewayProcess[];

const call: McpBehaviour['call'] = async ({ body }, response) => {
  const { name, arguments: args } = body.params as { name: Tool['name']; arguments: { id: string } };
  seen.set(args.id, (seen.get(args.id) ?? 0) + 1);
  arrivals.get(args.id)?.();
  const text = { content: [{ type: 'text', text: args.id }] };
  switch (name) {
    case 'fails':
      return { ...text, isError: true };
    case 'slow':
      await sleep(20);
      return text;
    case 'large':
      return { content: [{ type: 'text', text: 'x'.repeat(40_000) }] };
    case 'late':
    case 'leave':
      return new Promise(() => {});
    case 'busy':
      response.writeHead(429, { 'retry-after': '1' }).end();
      return undefined;
    case 'resets':
      response.destroy();
      return undefined;
    default:
      return text;
  }
};

beforeAll(async () => {
  const tools = TOOLS.map(({ name }) => ({ name, inputSchema: ANY_ARGUMENTS }));
  servers.old = cleanup.use(await startMcpServer({ tools, call, streams: true }));
  servers.new = cleanup.use(await startMcpServer({ era: 'modern', tools, call }));
  const spec = { jurisdiction: 'US', maxResultKiB: 16, rules: [{ tools: ['ruled'], arguments: { maxProperties: 0 } }] };
  stack = cleanup.use(
    await startStack({
      prices: TOOLS.flatMap(({ name, price }) =>
        ['old', 'new'].map((server) => ({ model: `mcp/${server}/${name}`, unit: 'Call', input: euro(price) })),
      ),
      workload: { budget: { amount: euro(BUDGET), period: 'Total' } },
      more: () =>
        Object.entries(servers).map(([name, { url }]) => resource('MCPServer', name, { endpoint: { url }, ...spec })),
    }),
  );
  gateways = [stack.gateway, await stack.another(), await stack.another()];
}, 60_000);
afterAll(() => cleanup.disposeAsync());

function euro(nano: bigint): string {
  return `${nano / 1_000_000_000n}.${String(nano % 1_000_000_000n).padStart(9, '0')}`;
}

/** One request; a client that leaves does so when its server has the call, or, one in three, just anywhere. */
async function make(one: Call, index: number, wait: number): Promise<void> {
  const world = { gateway: gateways[index % gateways.length]!, key: stack.key };
  const leaving = new AbortController();
  if (one.tool.name === 'leave') {
    if (wait === 0) arrivals.set(one.id, () => leaving.abort());
    else setTimeout(() => leaving.abort(), wait);
  }
  const params = { name: one.tool.name, arguments: { id: one.id } };
  const headers = { 'x-gw-upstream-timeout': one.tool.name === 'late' ? '1' : '30' };
  const era = index % 2 === 0 ? 'modern' : 'legacy';
  const answer = ask(world, era, `/v1/mcp/${one.server}`, 'tools/call', params, headers, leaving.signal);
  const sent = await answer.catch((thrown: unknown) => {
    if (!leaving.signal.aborted) throw thrown;
  });
  if (sent) one.sent = sent;
}

/** All calls of the run, as clients make them: what failed is tried once more, as a call of its own. */
async function makeAll(): Promise<readonly Call[]> {
  const random = randomFor(SEED, 'money');
  const calls: Call[] = [];
  const client = async (): Promise<void> => {
    while (calls.length < CALLS) {
      const [tool, server] = [random.weighted(TOOLS), random.pick<Call['server']>(['old', 'new'])];
      for (let again = random.whole(0, 1); again >= 0; again--) {
        const one: Call = { id: `call-${calls.length}`, tool, server };
        const index = calls.push(one);
        if (index % 300 === 0) servers.old.forgetSessions();
        await make(one, index, random.pick([0, 0, random.whole(1, 30)]));
        if (one.sent && codeOf(one.sent) === '') break;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return calls;
}

/** Spends the rest, call by call, until nothing is held and two calls in a row find no money. */
async function spendRest(price: Tool): Promise<void> {
  for (let refused = 0, index = 0; refused < 2; index++) {
    const one: Call = { id: `rest-${index}`, tool: price, server: 'new' };
    await make(one, index, 0);
    const over = one.sent?.status === 402 && (await countersOf(stack.redis)).holds.length === 0;
    refused = over ? refused + 1 : 0;
    if (one.sent?.status !== 200) await sleep(1100);
  }
}

/** The faults of the row of a call that its client knows the end of. */
function faultsOf({ id, tool, sent, server }: Call, row: AuditRow | undefined): string[] {
  const code = sent && codeOf(sent);
  const what = `${id} (${tool.name} of ${server}, told ${sent?.status} ${code})`;
  if (!row) return [`${what} has no row`];
  const reached = seen.get(id) ?? 0;
  const faults = reached > 1 ? [`${what} was run ${reached} times`] : [];
  // A server that is slow enough has not read a request that has come to it: it may run it, and it is charged.
  const mayRun = reached > 0 || (code === 'upstream_timeout' && row.cost_nano_eur !== '0');
  const truth = mayRun && tool.charged ? tool.price : 0n;
  if (BigInt(row.cost_nano_eur) !== truth) faults.push(`${what} costs ${row.cost_nano_eur} instead of ${truth}`);
  if (BigInt(row.held_nano_eur) < truth) faults.push(`${what} costs more than its hold ${row.held_nano_eur}`);
  if ((row.code ?? '') !== code) faults.push(`${what} has code ${row.code}`);
  return faults;
}

test(`${CALLS} calls over three gateways: exact books, and a budget that is spent and not overspent`, async () => {
  const calls = await makeAll();
  await spendRest(TOOLS[0]);
  const spent = await expectBooksToAgree(stack, calls.filter(({ sent }) => sent).length);
  expect(spent).toBeLessThanOrEqual(BUDGET);
  expect(spent).toBeGreaterThan(BUDGET - TOOLS[0].price);

  const rows = await ledgerRows(stack.databaseUrl);
  const byId = new Map(rows.map((row) => [row.call_id, row]));
  const told = calls.filter(({ sent }) => sent);
  const wrong = told.flatMap((one) => faultsOf(one, byId.get(one.sent?.headers.get('x-request-id') ?? '')));
  expect(wrong.slice(0, 20), `MCP_SEED=${SEED}: ${wrong.length} rows are wrong`).toEqual([]);
  // Those whose clients left: charged where the server has the call, and only once.
  const left = rows.filter(({ outcome }) => outcome === 'hung_up');
  const paid = left.filter(({ cost_nano_eur: cost }) => cost !== '0');
  const run = calls.filter(({ id, sent }) => !sent && seen.has(id));
  for (const { cost_nano_eur: cost } of paid) expect(BigInt(cost)).toBe(1_000_003n);
  expect(paid.length).toBeGreaterThanOrEqual(run.length);
  expect(run.every(({ id }) => seen.get(id) === 1)).toBe(true);
  // Nothing of this is empty.
  const codes = new Set(told.map(({ sent }) => sent && codeOf(sent)));
  for (const code of ['', ...CODES]) expect(codes).toContain(code);
  expect(run.length).toBeGreaterThan(0);
  expect(new Set(rows.map(({ strand }) => strand)).size).toBe(gateways.length);
}, 900_000);
