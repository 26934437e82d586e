import { hash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newKey, resource } from '../harness/gateway.ts';
import { startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { claimsOf, startOAuthServer, type OAuthServer } from './oauth-peers.ts';
import { ask, startMcpWorld, textOf, type McpWorld } from './world.ts';

/** A server that is asked for the user of each call: the user's access token is exchanged for one for the server. */

const PUBLIC = 'https://gw.example';
const ALL = `${PUBLIC}/v1/mcp`;
let oauth: OAuthServer;
/** Another authorization server, which the author of an MCPServer names. */
let stranger: OAuthServer;
let server: McpStandIn;
let world: McpWorld;
let key: string;

beforeAll(async () => {
  key = newKey();
  const staff = { secret: 'secret', claims: { groups: ['staff'] } };
  oauth = await startOAuthServer(
    { gatewarden: { secret: 'gw-secret' }, ada: staff, bob: staff, mallory: staff },
    { UNTRUSTED: 'mallory' },
  );
  stranger = await startOAuthServer({ gatewarden: { secret: 'gw-secret' } });
  server = await startMcpServer({
    admits: ({ headers }) => claimsOf(headers.authorization)['aud'] === server.url,
    call: ({ headers }) => ({ content: [{ type: 'text', text: String(claimsOf(headers.authorization)['sub']) }] }),
  });
  world = await startMcpWorld(
    {
      servers: {
        crm: {
          url: server.url,
          auth: {
            type: 'TokenExchange',
            tokenUrl: oauth.tokenUrl,
            clientId: 'gatewarden',
            secretKeyRef: { name: 'crm', key: 'secret' },
          },
        },
        thief: {
          url: server.url,
          auth: {
            type: 'TokenExchange',
            tokenUrl: stranger.tokenUrl,
            clientId: 'gatewarden',
            secretKeyRef: { name: 'crm', key: 'secret' },
          },
        },
      },
      organization: { accessTokens: [{ claim: 'groups', value: 'staff', virtualKeyRef: { name: 'staff' } }] },
      more: [
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'crm', namespace: 'default' },
          type: 'gatewarden.dev/credentials',
          stringData: { secret: 'gw-secret' },
        },
        resource('Workload', 'desk', { organizationRef: { name: 'acme' } }),
        resource('VirtualKey', 'staff', { workloadRef: { name: 'desk' }, hash: { value: hash('sha256', key, 'hex') } }),
      ],
    },
    { GW_MCP_ISSUER: oauth.issuer, GW_MCP_JWKS_URL: oauth.jwksUrl, GW_PUBLIC_URL: PUBLIC },
  );
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  await stranger?.[Symbol.asyncDispose]();
  await oauth?.[Symbol.asyncDispose]();
});

beforeEach(() => {
  const { admits } = server.behaviour;
  return () => void (server.behaviour.admits = admits);
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const call = (token: string) =>
  ask(world, 'legacy', '/v1/mcp', 'tools/call', { name: 'crm__echo', arguments: {} }, bearer(token));
const sentFor = (sub: string) =>
  server.of('tools/call').filter(({ headers }) => claimsOf(headers.authorization)['sub'] === sub);

test('each user is asked for with a token for that user and that server, in a session of its own', async () => {
  const [ada, bob] = [await oauth.token('ada', ALL), await oauth.token('bob', ALL)];
  const answers = await Promise.all([ada, bob, ada, bob, bob, ada].map(call));
  expect(answers.map(textOf)).toEqual(['ada', 'bob', 'ada', 'bob', 'bob', 'ada']);
  const sessions = (sub: string) => new Set(sentFor(sub).map(({ headers }) => headers['mcp-session-id']));
  const tokens = (sub: string) => new Set(sentFor(sub).map(({ headers }) => headers.authorization));
  for (const sub of ['ada', 'bob']) {
    expect([sessions(sub).size, tokens(sub).size]).toEqual([1, 1]);
    expect(claimsOf([...tokens(sub)][0])).toMatchObject({ aud: server.url, client_id: 'gatewarden', sub });
  }
  expect([...sessions('ada')].filter((session) => sessions('bob').has(session))).toEqual([]);
  // Another token of the same user is another caller.
  await call(await oauth.token('ada', ALL));
  expect(tokens('ada').size).toBe(2);
});

test('lists are fetched for the gateway, and a user sees them before the first call', async () => {
  const { body } = await ask(world, 'legacy', '/v1/mcp', 'tools/list', {}, bearer(key));
  expect(body.result?.tools?.map(({ name }) => name)).toEqual(['crm__echo', 'thief__echo']);
  for (const { headers } of server.of('tools/list'))
    expect(claimsOf(headers.authorization)).toMatchObject({ sub: 'gatewarden', aud: server.url });
});

test('a virtual key has no user: the refusal says so, and nothing is sent', async () => {
  const before = server.of('tools/call').length;
  const answer = await call(key);
  expect([answer.status, answer.body.error?.data?.['code']]).toEqual([400, 'invalid_request']);
  expect(answer.body.error?.message).toBe(
    'The MCP server crm is asked for the user of each call, and a virtual key has none. Send an access token of the user.',
  );
  expect(server.of('tools/call')).toHaveLength(before);
});

test('a user whose token is not exchanged is refused, and the others are not', async () => {
  const mallory = await oauth.token('mallory', ALL);
  const refused = await call(mallory);
  expect([refused.status, refused.body.error?.message]).toEqual([
    502,
    'The token endpoint of the MCP server crm does not exchange the access token of the caller. Nothing was sent to the server.',
  ]);
  expect(sentFor('mallory')).toEqual([]);
  expect(textOf(await call(await oauth.token('bob', ALL)))).toBe('bob');
});

test('the token of a user is not sent to an authorization server that the platform does not name', async () => {
  const ada = await oauth.token('ada', ALL);
  const before = server.of('tools/call').length;
  const params = { name: 'thief__echo', arguments: {} };
  const refused = await ask(world, 'legacy', '/v1/mcp', 'tools/call', params, bearer(ada));
  expect([refused.status, refused.body.error?.message]).toEqual([
    502,
    'The access token of the caller was not sent to the token endpoint of the MCP server thief: its origin is not in GW_MCP_TOKEN_ORIGINS. Ask the administrator of the gateway to add it.',
  ]);
  expect(server.of('tools/call')).toHaveLength(before);
});

test('a token that the server takes no longer is exchanged again, for its own user', async () => {
  const ada = await oauth.token('ada', ALL);
  await call(ada);
  const old = sentFor('ada').at(-1)?.headers.authorization;
  const { admits } = server.behaviour;
  server.behaviour.admits = (one) => admits(one) && one.headers.authorization !== old;
  expect(textOf(await call(ada))).toBe('ada');
});

test('no token is passed on, written to a row or logged', async () => {
  const ada = await oauth.token('ada', ALL);
  const answer = await call(ada);
  const row = await rowOf(world.databaseUrl, answer.headers.get('x-request-id'));
  const told = JSON.stringify([answer.text, [...answer.headers], row, world.gateway.log]);
  const exchanged = sentFor('ada').at(-1)?.headers.authorization ?? '?';
  for (const token of [ada, exchanged]) expect(told).not.toContain(token.split('.').at(-1));
  expect(JSON.stringify(server.received)).not.toContain(ada.split('.').at(-1));
});
