import { afterAll, beforeAll, expect, test } from 'vitest';
import { newKey, resource } from '../harness/gateway.ts';
import { startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { hash } from 'node:crypto';
import { startOAuthServer, type OAuthServer } from './oauth-peers.ts';
import { ask, startMcpWorld, textOf, type McpWorld } from './world.ts';

/** Clients that come with access tokens of an authorization server of others, and not with virtual keys. */

const PUBLIC = 'https://gw.example/base';
const ALL = `${PUBLIC}/v1/mcp`;
const META_URL = 'https://gw.example/.well-known/oauth-protected-resource/base/v1/mcp';
let oauth: OAuthServer;
let server: McpStandIn;
let world: McpWorld;

const client = (claims: object) => ({ secret: 'secret', claims: { ...claims } });
const virtualKey = (name: string, workload: string, more: object = {}) =>
  resource('VirtualKey', name, {
    workloadRef: { name: workload },
    hash: { value: hash('sha256', newKey(), 'hex') },
    ...more,
  });
const rule = (claim: string, value: string, key: string) => ({ claim, value, virtualKeyRef: { name: key } });

beforeAll(async () => {
  oauth = await startOAuthServer({
    agent: client({}),
    person: client({ groups: ['staff', 'support'] }),
    torn: client({ groups: ['support', 'sales'] }),
    stranger: client({ groups: ['nobody'], __proto__x: 'a' }),
    former: client({ groups: ['former'] }),
    thief: client({ groups: ['theirs'] }),
  });
  server = await startMcpServer();
  world = await startMcpWorld(
    {
      servers: {
        crm: { url: server.url, workloads: ['support-bot'] },
        'crm.eu': { url: server.url },
        all: { url: server.url },
        sends: { url: server.url, rules: [{ tools: ['*'], approval: 'Required' }] },
      },
      organization: {
        accessTokens: [
          rule('client_id', 'agent', 'support'),
          rule('groups', 'support', 'support'),
          rule('groups', 'sales', 'sales'),
          rule('groups', 'former', 'former'),
          rule('groups', 'theirs', 'theirs'),
        ],
      },
      more: [
        resource('Workload', 'support-bot', { organizationRef: { name: 'acme' } }),
        resource('Workload', 'sales-bot', { organizationRef: { name: 'acme' } }),
        resource('Organization', 'rival', { contact: { email: 'a@b.example' } }),
        resource('Workload', 'rival-bot', { organizationRef: { name: 'rival' } }),
        virtualKey('support', 'support-bot'),
        virtualKey('sales', 'sales-bot'),
        virtualKey('former', 'sales-bot', { revoked: true }),
        virtualKey('theirs', 'rival-bot'),
      ],
    },
    { GW_MCP_ISSUER: oauth.issuer, GW_MCP_JWKS_URL: oauth.jwksUrl, GW_PUBLIC_URL: `${PUBLIC}/` },
  );
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  await oauth?.[Symbol.asyncDispose]();
});

const call = (
  token: string,
  path = '/v1/mcp',
  name = 'all__echo',
  more: Record<string, string> = {},
  args: object = { a: 1 },
) => ask(world, 'legacy', path, 'tools/call', { name, arguments: args }, { authorization: `Bearer ${token}`, ...more });

test('says where tokens are given out, for all servers and for each, whether or not it is there', async () => {
  const at = async (path: string) =>
    fetch(`${world.gateway.url}/.well-known/oauth-protected-resource/base/v1/mcp${path}`);
  for (const [path, of] of [
    ['', ALL],
    ['/crm', `${ALL}/crm`],
    ['/crm.eu', `${ALL}/crm.eu`],
    [`/${'a'.repeat(253)}`, `${ALL}/${'a'.repeat(253)}`],
    ['/absent', `${ALL}/absent`],
  ] as const) {
    const answer = await at(path);
    expect([answer.status, await answer.json()]).toEqual([
      200,
      expect.objectContaining({ resource: of, authorization_servers: [oauth.issuer], scopes_supported: ['mcp:tools'] }),
    ]);
  }
  for (const path of ['/%22', '/a%0d%0ab', `/${'a'.repeat(254)}`, '/crm.', '/crm/more'])
    expect((await at(path)).status).toBe(404);
  expect((await fetch(`${world.gateway.url}/.well-known/oauth-authorization-server`)).status).toBe(404);
});

test('without a token the refusal names the metadata of the path, in one header', async () => {
  const bare = async (path: string, more: Record<string, string> = { authorization: '' }) => {
    const { status, headers } = await ask(world, 'legacy', path, 'tools/list', {}, more);
    return [status, headers.get('www-authenticate')];
  };
  const scope = 'scope="mcp:tools"';
  const invalid = 'error="invalid_token", ';
  expect(await bare('/v1/mcp/crm')).toEqual([401, `Bearer ${invalid}resource_metadata="${META_URL}/crm", ${scope}`]);
  const injected = '/v1/mcp/x%22%0d%0aset-cookie:%20a=b';
  expect(await bare(injected)).toEqual([401, `Bearer ${invalid}resource_metadata="${META_URL}", ${scope}`]);
  const response = await fetch(`${world.gateway.url}/v1/mcp`, { method: 'POST', body: '{}' });
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer resource_metadata="${META_URL}", ${scope}`,
  ]);
});

test.each(['agent', 'person'])('a token stands for the key of a rule: %s', async (name) => {
  const token = await oauth.token(name, ALL);
  const answer = await call(token);
  expect(textOf(answer)).toBe('{"a":1}');
  expect(await rowOf(world.databaseUrl, answer.headers.get('x-request-id'))).toMatchObject({
    key: 'default/support',
    workload: 'default/support-bot',
  });
  const told = JSON.stringify([answer.text, server.received, world.gateway.log]);
  expect(told).not.toContain(token.split('.')[2]);
});

test.each([
  ['torn', 403, /Several VirtualKeys/],
  ['stranger', 403, /No VirtualKey/],
  ['thief', 403, /No VirtualKey/],
  ['former', 401, /was revoked/],
])('a token is refused that stands for no one key: %s', async (name, status, message) => {
  const before = server.received.length;
  const answer = await call(await oauth.token(name, ALL));
  expect([answer.status, answer.body.error?.message]).toEqual([status, expect.stringMatching(message)]);
  expect(server.received).toHaveLength(before);
});

test('a token for one path is good for no other', async () => {
  const own = await oauth.token('agent', `${ALL}/crm`);
  expect(textOf(await call(own, '/v1/mcp/crm', 'echo'))).toBe('{"a":1}');
  const foreign = await call(own);
  expect([foreign.status, foreign.body.error?.message]).toEqual([401, 'The access token is for another resource.']);
  expect(foreign.headers.get('www-authenticate')).toContain('error="invalid_token"');
  const all = await oauth.token('agent', ALL);
  for (const path of ['/v1/mcp/crm', '/v1/mcp/crm.eu']) expect((await call(all, path, 'echo')).status).toBe(401);
  expect(textOf(await call(await oauth.token('agent', `${ALL}/crm.eu`), '/v1/mcp/crm.eu', 'echo'))).toBe('{"a":1}');
  for (const path of ['/v1/mcp/CRM', '/v1/mcp/crm.', `/v1/mcp/${'a'.repeat(254)}`])
    expect((await call(all, path, 'echo')).status).toBe(404);
});

test('no token opens another surface, or comes with a key', async () => {
  const token = await oauth.token('agent', ALL);
  const headers = { authorization: `Bearer ${token}` };
  expect((await fetch(`${world.gateway.url}/v1/models`, { headers })).status).toBe(401);
  expect((await call(token, '/v1/mcp', 'all__echo', { 'x-api-key': world.key })).status).toBe(401);
});

test('rows tell persons apart who share a key, without saying who they are', async () => {
  const row = async (token: string) =>
    rowOf(world.databaseUrl, (await call(token)).headers.get('x-request-id')) as Promise<{ person?: string }>;
  const [one, again, another, refused] = [
    await row(await oauth.token('agent', ALL)),
    await row(await oauth.token('agent', ALL)),
    await row(await oauth.token('person', ALL)),
    await row(world.key),
  ];
  expect(one.person).toMatch(/^[\w-]{43}$/);
  expect(again.person).toBe(one.person);
  expect(another.person).not.toBe(one.person);
  expect(refused).not.toHaveProperty('person');
});

test('of those who share a key, one who has enough calls to approve keeps none of the others from asking', async () => {
  const asks = (token: string, a: number) => call(token, '/v1/mcp', 'sends__echo', {}, { a });
  const [busy, other] = [await oauth.token('person', ALL), await oauth.token('agent', ALL)];
  for (let at = 0; at < 20; at++) expect(textOf(await asks(busy, at))).toContain('gwctl mcp approve');
  expect(textOf(await asks(busy, 20))).toContain('20 with this key of this user, or 100 of this workload');
  expect(textOf(await asks(busy, 0))).toContain('gwctl mcp approve');
  const answer = await asks(other, 20);
  expect(textOf(answer)).toContain('gwctl mcp approve');
  const row = await rowOf(world.databaseUrl, answer.headers.get('x-request-id'));
  const list = await runGwctl(['mcp', 'approve'], { env: { DATABASE_URL: world.databaseUrl } });
  expect(list.out).toContain(`asked by   person ${String(row['person'])}, key default/support of default/support-bot`);
});

test('a virtual key is good as before', async () => {
  expect(textOf(await call(world.key))).toBe('{"a":1}');
});
