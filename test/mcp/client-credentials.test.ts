import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { claimsOf, startOAuthServer, type OAuthServer } from './oauth-peers.ts';
import { ask, startMcpWorld, textOf, type McpWorld } from './world.ts';

/** MCP servers that take access tokens, and an authorization server of others that gives them. */

const SECRET = 's 3:cret%/+';
const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'crm', namespace: 'default' },
  type: 'gatewarden.dev/credentials',
  stringData: { right: SECRET, wrong: 'another-secret' },
};
let oauth: OAuthServer;
let server: McpStandIn;
let slow: Server;
let world: McpWorld;

beforeAll(async () => {
  oauth = await startOAuthServer({ gatewarden: { secret: SECRET } });
  server = await startMcpServer({ admits: ({ headers }) => claimsOf(headers.authorization)['aud'] === server.url });
  // Never answers.
  slow = createServer(() => {});
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  const slowUrl = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/token`;
  const auth = (more: object) => ({
    type: 'ClientCredentials',
    tokenUrl: oauth.tokenUrl,
    clientId: 'gatewarden',
    secretKeyRef: { name: 'crm', key: 'right' },
    ...more,
  });
  world = await startMcpWorld({
    servers: {
      crm: { url: server.url, auth: auth({ scopes: ['crm.read'] }) },
      wrong: { url: server.url, auth: auth({ secretKeyRef: { name: 'crm', key: 'wrong' } }) },
      gone: { url: server.url, auth: auth({ tokenUrl: 'http://127.0.0.1:9/token' }) },
      strange: { url: server.url, auth: auth({ tokenUrl: oauth.jwksUrl }) },
      slow: { url: server.url, auth: auth({ tokenUrl: slowUrl }) },
    },
    more: [secret],
  });
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  slow?.closeAllConnections();
  slow?.close();
  await oauth?.[Symbol.asyncDispose]();
});

let admits: McpStandIn['behaviour']['admits'];
beforeEach(() => {
  admits = server.behaviour.admits;
  return () => void (server.behaviour.admits = admits);
});

const call = (path = '/v1/mcp/crm') => ask(world, 'legacy', path, 'tools/call', { name: 'echo', arguments: { a: 1 } });
const tokens = () => new Set(server.received.map(({ headers }) => headers.authorization));

test('a server is asked with a token that is for it, and for the scopes of its resource', async () => {
  expect(textOf(await call())).toBe('{"a":1}');
  expect(textOf(await call())).toBe('{"a":1}');
  const [token, ...others] = tokens();
  expect(others).toEqual([]);
  expect(claimsOf(token)).toMatchObject({ aud: server.url, client_id: 'gatewarden', scope: 'crm.read' });
});

test('a token that the server no longer takes is renewed once, and the call sent again', async () => {
  await call();
  const [old] = tokens();
  const before = server.of('tools/call').length;
  server.behaviour.admits = ({ headers }) => headers.authorization !== old;
  expect(textOf(await call())).toBe('{"a":1}');
  expect(server.of('tools/call')).toHaveLength(before + 2);
  expect(tokens().size).toBe(2);
});

test('a server that takes no token is asked twice at most, and its refusal is 502', async () => {
  await call();
  const before = server.of('tools/call').length;
  server.behaviour.admits = () => false;
  const refused = await call();
  expect([refused.status, refused.body.error?.data?.['code']]).toEqual([502, 'upstream_error']);
  expect(server.of('tools/call').length - before).toBeLessThanOrEqual(2);
  const asked = tokens().size;
  for (let tries = 0; tries < 5; tries++) expect((await call()).status).toBe(502);
  expect(tokens().size).toBe(asked);
});

test.each([
  ['wrong', 502, /token endpoint of the MCP server wrong refused the client of the gateway/],
  ['gone', 503, /token endpoint of the MCP server gone cannot be reached/],
  ['slow', 503, /token endpoint of the MCP server slow did not answer in time/],
  ['strange', 502, /token endpoint of the MCP server strange (refused the client|gave no usable)/],
])('a token endpoint that gives no token is named as such: %s', async (name, status, message) => {
  const before = server.of('tools/call').length;
  for (const answer of [await ask(world, 'modern', `/v1/mcp/${name}`, 'tools/list'), await call(`/v1/mcp/${name}`)]) {
    expect([answer.status, answer.body.error?.message], answer.text).toEqual([status, expect.stringMatching(message)]);
    expect(answer.headers.has('retry-after')).toBe(status === 503);
  }
  expect(server.of('tools/call')).toHaveLength(before);
});

test('neither the secret nor a token is in an answer, a row or the log', async () => {
  const answers = [await call(), await call('/v1/mcp/wrong')];
  const row = await rowOf(world.databaseUrl, answers[0]?.headers.get('x-request-id'));
  const told = JSON.stringify([answers.map(({ text, headers }) => [text, [...headers]]), row, world.gateway.log]);
  for (const one of tokens()) expect(told).not.toContain(one?.slice('Bearer '.length) ?? '?');
  expect(told).not.toContain(SECRET);
  expect(told).not.toContain('another-secret');
});
