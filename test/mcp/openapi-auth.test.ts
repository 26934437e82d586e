import { hash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newKey, resource } from '../harness/gateway.ts';
import { sendJson, startHttpApi, type HttpApi } from '../harness/http-api.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { claimsOf, startOAuthServer, type OAuthServer } from './oauth-peers.ts';
import { apiServer, secret } from './openapi-world.ts';
import { ask, startMcpWorld, type McpWorld } from './world.ts';

/** APIs that take access tokens: of the gateway as a client, and of the user of each call. */

const PUBLIC = 'https://gw.example';
let oauth: OAuthServer;
let api: HttpApi;
let world: McpWorld;
let refused: Set<string>;

beforeAll(async () => {
  const staffKey = newKey();
  const staff = { secret: 'secret', claims: { groups: ['staff'] } };
  [oauth, api] = await Promise.all([
    startOAuthServer({ gatewarden: { secret: 'gw-secret' }, ada: staff, bob: staff }),
    startHttpApi(),
  ]);
  refused = new Set();
  api.answer = ({ headers: { authorization = '' } }, response) => {
    const { aud, sub } = claimsOf(authorization);
    if (aud !== api.url || refused.has(authorization)) sendJson(response, 401, { authorization });
    else sendJson(response, 200, { sub, authorization });
  };
  const auth = (type: string) => ({
    type,
    tokenUrl: oauth.tokenUrl,
    clientId: 'gatewarden',
    secretKeyRef: { name: 'shop', key: 'secret' },
  });
  world = await startMcpWorld(
    {
      servers: {
        own: apiServer(api.url, { auth: auth('ClientCredentials') }),
        users: apiServer(api.url, { auth: auth('TokenExchange') }),
      },
      organization: { accessTokens: [{ claim: 'groups', value: 'staff', virtualKeyRef: { name: 'staff' } }] },
      more: [
        secret('shop', { secret: 'gw-secret' }),
        resource('Workload', 'desk', { organizationRef: { name: 'acme' } }),
        resource('VirtualKey', 'staff', {
          workloadRef: { name: 'desk' },
          hash: { value: hash('sha256', staffKey, 'hex') },
        }),
      ],
    },
    { GW_MCP_ISSUER: oauth.issuer, GW_MCP_JWKS_URL: oauth.jwksUrl, GW_PUBLIC_URL: PUBLIC },
  );
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await api?.[Symbol.asyncDispose]();
  await oauth?.[Symbol.asyncDispose]();
});

const call = (server: string, token: string) =>
  ask(
    world,
    'modern',
    `/v1/mcp/${server}`,
    'tools/call',
    { name: 'getCustomer', arguments: { id: 'a' } },
    { authorization: `Bearer ${token}` },
  );
const subOf = (answer: Awaited<ReturnType<typeof call>>) => {
  const content = answer.body.result?.['structuredContent'] as { readonly sub?: string } | undefined;
  return content?.sub;
};

test('the gateway asks as a client, with a token for the base address', async () => {
  const answer = await call('own', world.key);
  expect(subOf(answer)).toBe('gatewarden');
  const { authorization = '' } = api.received.at(-1)!.headers;
  expect(claimsOf(authorization)).toMatchObject({ aud: api.url });
  // The API repeats the token.
  const row = await rowOf(world.databaseUrl, answer.headers.get('x-request-id'));
  const told = JSON.stringify([answer.text, row, world.gateway.log]);
  expect(told).not.toContain(authorization.split('.').at(-1));
  expect(answer.text).toContain('Bearer [credential]');
});

test('a token that the API takes no longer is renewed, and the request sent once more', async () => {
  await call('own', world.key);
  refused.add(api.received.at(-1)!.headers.authorization!);
  const before = api.received.length;
  expect(subOf(await call('own', world.key))).toBe('gatewarden');
  expect(api.received).toHaveLength(before + 2);
});

test('users are asked for with a token of their own, and a key has no user', async () => {
  const tokens = await Promise.all(['ada', 'bob'].map((name) => oauth.token(name, `${PUBLIC}/v1/mcp/users`)));
  expect((await Promise.all([...tokens, ...tokens].map((token) => call('users', token)))).map(subOf)).toEqual([
    'ada',
    'bob',
    'ada',
    'bob',
  ]);
  const sent = api.received.map(({ headers }) => headers.authorization);
  for (const token of tokens) expect(sent).not.toContain(`Bearer ${token}`);
  const before = api.received.length;
  const byKey = await call('users', world.key);
  expect([byKey.status, byKey.body.error?.data?.['code']]).toEqual([400, 'invalid_request']);
  expect(api.received).toHaveLength(before);
});
