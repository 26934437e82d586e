import { hash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { newKey, resource, startGateway, type GatewayProcess } from '../harness/gateway.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { ANY_ARGUMENTS, startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { createDatabase } from '../harness/postgres.ts';
import { ask, mcpResources, post, textOf, type McpWorld, type McpWorldOptions, type Sent } from './world.ts';

/** Calls of tools that a person must approve: at two gateways, for keys of two workloads. */

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const keys = { first: newKey(), sibling: newKey(), second: newKey() };

let server: McpStandIn;
let gateways: readonly GatewayProcess[];
let databaseUrl: string;
let folder: string;
let count = 0;
/** An argument that no other test has. */
let subject = '';

function options(more: Partial<McpWorldOptions> = {}): McpWorldOptions {
  return {
    servers: {
      crm: {
        url: server.url,
        callsPerMinute: 40,
        rules: [
          { tools: ['export'], approval: 'Required' },
          { tools: ['send'], approval: 'Required', arguments: { required: ['to'] } },
        ],
      },
      own: { url: server.url, trust: 'Internal' },
    },
    policy: {
      dlp: { mode: 'Tokenize', tools: { internal: 'AllowLog' } },
      toolsToApprove: ['own/export'],
    },
    prices: [{ model: 'mcp/*', unit: 'Call', input: '0.5' }],
    more: [
      resource('Workload', 'second', { organizationRef: { name: 'acme' } }),
      ...(['sibling', 'second'] as const).map((name) =>
        resource('VirtualKey', name, {
          workloadRef: { name: name === 'second' ? 'second' : 'app' },
          hash: { algorithm: 'SHA256', value: hash('sha256', keys[name], 'hex') },
        }),
      ),
    ],
    ...more,
  };
}

beforeAll(async () => {
  server = await startMcpServer({
    era: 'modern',
    tools: ['export', 'send', 'free'].map((name) => ({ name, inputSchema: ANY_ARGUMENTS })),
  });
  databaseUrl = await createDatabase(inject('databaseUrl'));
  const resources = mcpResources(options(), keys.first);
  folder = mkdtempSync(join(tmpdir(), 'gatewarden-approvals-'));
  const keyFile = join(folder, 'keys');
  writeFileSync(keyFile, `k1:${randomBytes(32).toString('base64')}\n`);
  const env = { GW_CONTENT_KEY_FILE: keyFile };
  const start = () => startGateway({ resources, redisUrl: inject('redisUrl'), databaseUrl, env });
  gateways = [await start(), await start()];
}, 120_000);

afterAll(async () => {
  await Promise.all(gateways?.map((gateway) => gateway.stop()) ?? []);
  await server?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
  subject = `n${++count}`;
});
afterEach(() => {
  server.received.length = 0;
});

const world = (at = 0, key: string = keys.first): Pick<McpWorld, 'gateway' | 'key'> => ({
  gateway: gateways[at % 2]!,
  key,
});
const call = (args: object, { at = 0, key = keys.first, tool = 'export', path = '/v1/mcp/crm' } = {}) =>
  ask(world(at, key), at % 2 === 0 ? 'modern' : 'legacy', path, 'tools/call', { name: tool, arguments: args });
const calls = (): number => server.of('tools/call').length;
const codeOf = ({ body }: Sent): unknown =>
  (body.result?.['_meta'] as { readonly 'gatewarden.dev/error'?: { readonly code: string } } | undefined)?.[
    'gatewarden.dev/error'
  ]?.code;

/** The id of the request that a refused call waits for. */
async function waiting(answer: Sent): Promise<string> {
  expect([answer.body.result?.isError, codeOf(answer)]).toEqual([true, 'approval_required']);
  const [id = ''] = ID.exec(textOf(answer)) ?? [];
  const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
  expect(row).toMatchObject({
    ...{ outcome: 'refused', code: 'approval_required', step: 'route', price: null },
    tool: { approval: { at: null, by: null, id } },
  });
  return id;
}

const mcp = (...args: readonly string[]) =>
  runGwctl(['mcp', ...args], { env: { DATABASE_URL: databaseUrl, USER: 'ada' } });
const gwctl = (...args: readonly string[]) => mcp('approve', ...args);

async function sql(text: string, ...values: unknown[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(text, values);
  } finally {
    await client.end();
  }
}

test('a call waits, is approved, and passes once, at any gateway', async () => {
  const args = { to: 'ada@example.com', subject };
  const id = await waiting(await call(args));
  expect(await waiting(await call(args, { at: 1 }))).toBe(id);
  expect(calls()).toBe(0);
  const list = await gwctl();
  expect(list).toMatchObject({ status: 0, err: '' });
  expect(list.out).toContain(`${id}  waiting\n  tool       export of default/crm`);
  expect(list.out).toContain(`{"to":"«EMAIL_1»","subject":"${subject}"}`);
  expect(list.out).not.toContain('ada@example.com');

  const approved = await gwctl(id, '--reason', 'ticket 7');
  expect(approved).toMatchObject({ status: 0, err: '' });
  expect(approved.out).toContain(`${id}  approved by ada: ticket 7\n`);
  const twice = await gwctl(id, '--deny', '--actor', 'eve');
  expect(twice).toEqual({ status: 1, out: '', err: `request ${id} does not wait: it is approved, decided by ada\n` });

  // Members in another order are the same arguments.
  const answer = await call({ subject, to: 'ada@example.com' }, { at: 1 });
  expect(JSON.parse(textOf(answer))).toEqual({ subject, to: 'ada@example.com' });
  const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
  expect(row).toMatchObject({
    outcome: 'served',
    tool: { approval: { at: expect.stringMatching(/Z$/) as string, by: 'ada', id, state: 'approved' } },
    route: [expect.stringMatching(/needs approval by rules\[0\]$/) as string],
  });
  expect(calls()).toBe(1);
  expect(await waiting(await call(args))).not.toBe(id);
  expect((await gwctl(id)).err).toBe(
    `there is no request ${id}: its call may have asked again. See gwctl mcp approve\n`,
  );
});

test.each([
  ['another argument', { more: 1 }, {}],
  ['a number that a double does not tell apart', { n: 9007199254740993n }, {}],
  ['another key of the workload', {}, { key: keys.sibling }],
  ['another workload', {}, { key: keys.second }],
  ['another server', {}, { path: '/v1/mcp/own' }],
])('an approval does not let %s pass', async (_what, args, where) => {
  const base = { subject, n: 9007199254740992 };
  const id = await waiting(await call(base));
  await gwctl(id);
  const source = JSON.stringify({ ...base, ...args }, (_name, value: unknown) =>
    typeof value === 'bigint' ? `big${value}` : value,
  ).replaceAll(/"big(\d+)"/g, '$1');
  const { key = keys.first, path = '/v1/mcp/crm' } = where as { key?: string; path?: string };
  const answer = await raw(path, source, key);
  expect(await waiting(answer)).not.toBe(id);
  expect(calls()).toBe(0);
  expect(textOf(await call(base))).toContain(subject);
});

function raw(path: string, args: string, key: string): Promise<Sent> {
  const params = `{"name":"export","arguments":${args}}`;
  return post(world(0, key), path, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`);
}

test('a person never sees what only an internal server may, and the server gets it', async () => {
  const args = { to: 'ada@example.com', subject };
  const path = '/v1/mcp/own';
  const id = await waiting(await call(args, { path }));
  const [line = ''] = (await gwctl('--json')).out.split('\n').filter((one) => one.includes(id));
  expect(JSON.parse(line)).toMatchObject({
    ...{ id, organization: 'default/acme', workload: 'default/app', key: 'default/app-key', server: 'default/own' },
    ...{ tool: 'export', state: 'waiting', arguments: `{"to":"«EMAIL_1»","subject":"${subject}"}` },
  });
  expect((await gwctl('--organization', 'default/rival')).err).toBe('no call waits for approval\n');
  expect(await gwctl(id, '--organization', 'default/rival')).toMatchObject({ status: 1, out: '' });
  await gwctl(id, '--organization', 'default/acme');
  expect(JSON.parse(textOf(await call(args, { path })))).toEqual(args);
  expect(server.of('tools/call').at(-1)?.body.params?.['arguments']).toEqual(args);
});

test('rules on arguments hold first, and what no person can review is refused', async () => {
  expect(codeOf(await call({ subject }, { tool: 'send' }))).toBe('tool_arguments_denied');
  await waiting(await call({ subject, to: 'x' }, { tool: 'send' }));
  expect(codeOf(await call({ subject, long: 'x '.repeat(33_000) }))).toBe('tool_arguments_denied');
  expect(textOf(await call({ subject }, { tool: 'free' }))).toContain(subject);
});

test('without the record of approvals nothing is sent', async () => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('BEGIN; LOCK TABLE tool_approvals IN ACCESS EXCLUSIVE MODE');
    const answer = await call({ subject });
    expect([answer.status, answer.body.error?.data?.['code']]).toEqual([503, 'approvals_unavailable']);
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
  expect(calls()).toBe(0);
  await waiting(await call({ subject }));
});

test.each([
  [['--deny'], '--deny, --reason and --actor decide a request: give its id'],
  [['x'], 'ID is that of a request'],
  [['0199d2c4-7a10-7c3e-9d5f-0a1b2c3d4e5f', '--actor', 'gateway:pin'], '--actor takes a name'],
  [['0199d2c4-7a10-7c3e-9d5f-0a1b2c3d4e5f', '--reason', 'a\nb'], '--reason takes one line'],
  [['0199d2c4-7a10-7c3e-9d5f-0a1b2c3d4e5f', '--all'], '--all lists requests'],
])('gwctl refuses %j', async (args, why) => {
  const { status, err } = await gwctl(...args);
  expect([status, err.includes(why)]).toEqual([2, true]);
});

test('of ten calls at once at two gateways, one uses the approval', async () => {
  const id = await waiting(await call({ subject }));
  await gwctl(id);
  const answers = await Promise.all(Array.from({ length: 10 }, (_one, at) => call({ subject }, { at })));
  expect(answers.filter(({ body }) => body.result?.isError !== true)).toHaveLength(1);
  expect(calls()).toBe(1);
});

test('of ten people who decide at once, one does', async () => {
  const id = await waiting(await call({ subject }));
  const decided = await Promise.all(
    Array.from({ length: 4 }, (_one, at) => gwctl(id, '--actor', `p${at}`, ...(at % 2 === 0 ? [] : ['--deny']))),
  );
  expect(decided.filter(({ status }) => status === 0)).toHaveLength(1);
}, 30_000);

test('a denied call is refused with the reason, and nothing is sent', async () => {
  const id = await waiting(await call({ subject }));
  expect((await gwctl(id, '--deny', '--reason', 'not this customer')).out).toContain(
    'denied by ada: not this customer',
  );
  await call({ subject });
  const answer = await call({ subject }, { at: 1 });
  expect(codeOf(answer)).toBe('approval_denied');
  expect(textOf(answer)).toContain('ada denied this call: not this customer.');
  const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
  expect(row).toMatchObject({ code: 'approval_denied', tool: { approval: { by: 'ada', id, state: 'denied' } } });
  expect(calls()).toBe(0);
});

test('an approval that has ended is asked for again, and a request that has ended is not approved', async () => {
  const id = await waiting(await call({ subject }));
  await gwctl(id);
  await sql("UPDATE tool_approvals SET ends_at = now() - interval '1 second' WHERE id = $1", id);
  const answer = await call({ subject });
  const next = await waiting(answer);
  expect(next).not.toBe(id);
  expect(textOf(answer)).toContain('has expired');
  const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
  expect(row).toMatchObject({ tool: { approval: { id: next, state: 'expired' } } });
  await sql("UPDATE tool_approvals SET ends_at = now() - interval '1 second' WHERE id = $1", next);
  expect(await gwctl(next)).toMatchObject({ status: 1, err: `request ${next} does not wait: it is expired\n` });
  expect((await gwctl()).out).not.toContain(next);
  expect((await gwctl('--all')).out).toContain(`${next}  expired`);
});

test('a changed definition is another call', async () => {
  const id = await waiting(await call({ subject }));
  await gwctl(id);
  const before = server.behaviour.tools;
  try {
    server.behaviour.tools = before.map((tool) => ({ ...tool, description: 'Sends all of it' }));
    await expect
      .poll(async () => codeOf(await call({ subject: `${subject} probe` })), { timeout: 10_000, interval: 300 })
      .toBe('tool_quarantined');
    await mcp('accept', 'default/crm', 'export');
    await expect
      .poll(async () => codeOf(await call({ subject })), { timeout: 10_000, interval: 300 })
      .toBe('approval_required');
    expect(calls()).toBe(0);
  } finally {
    server.behaviour.tools = before;
  }
}, 60_000);

test('metrics count the calls by how their approval stands', async () => {
  const text = await (await fetch(`${gateways[0]!.adminUrl}/metrics`)).text();
  for (const state of ['asked', 'waiting', 'approved', 'denied', 'expired'])
    expect(text).toMatch(new RegExp(`^gw_mcp_approvals_total\\{server="default/crm",state="${state}"\\} [1-9]`, 'm'));
});
