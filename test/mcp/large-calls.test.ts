import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowOf } from '../harness/ledger-rows.ts';
import { ANY_ARGUMENTS, startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { ask, startMcpWorld, textOf, type McpWorld } from './world.ts';

/** Large arguments and results go through in turns with small calls, and come out as they went in. */

let server: McpStandIn;
let world: McpWorld;

beforeAll(async () => {
  server = await startMcpServer({ tools: [{ name: 'echo', inputSchema: ANY_ARGUMENTS }] });
  world = await startMcpWorld({
    servers: { crm: { url: server.url, maxResultKiB: 65_536 } },
    policy: { dlp: { mode: 'Tokenize' } },
  });
}, 60_000);
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

/** As JSON, however long it takes. */
const call = (args: object) =>
  ask(world, 'legacy', '/v1/mcp/crm', 'tools/call', { name: 'echo', arguments: args }, { accept: 'application/json' });

test.each([
  ['one event', false],
  ['a stream', true],
])('a result of megabytes, as %s, is restored and passed on', async (_, streams) => {
  const rows = Array.from({ length: 5000 }, (_row, id) => ({ id, note: 'x'.repeat(400) }));
  server.behaviour.streams = streams;
  server.behaviour.call = ({ body }) => ({
    content: [{ type: 'text', text: JSON.stringify(body.params?.['arguments']) }],
    structuredContent: { rows, to: '«EMAIL_1»' },
  });
  const answer = await call({ mail: 'ada@example.com' });
  expect(textOf(answer)).toBe('{"mail":"ada@example.com"}');
  expect(answer.body.result?.['structuredContent']).toEqual({ rows, to: 'ada@example.com' });
  expect(JSON.stringify(server.of('tools/call').at(-1)?.body.params)).toContain('«EMAIL_1»');
}, 60_000);

test('large arguments have the digest of the same ones in another order', async () => {
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`member ${at}`, `ein Text ${at}`.repeat(9)]));
  const turned = Object.fromEntries(Object.entries(many).toReversed());
  server.behaviour.call = () => ({ content: [{ type: 'text', text: 'ok' }] });
  const digests: unknown[] = [];
  for (const args of [many, turned, { ...many, more: 1 }]) {
    const answer = await call(args);
    const row = await rowOf(world.databaseUrl, answer.headers.get('x-request-id'));
    digests.push(row.tool?.arguments);
  }
  expect(digests[0]).toMatch(/^[\w-]{43}$/);
  expect(digests[1]).toBe(digests[0]);
  expect(digests[2]).not.toBe(digests[0]);
}, 60_000);
