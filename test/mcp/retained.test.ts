import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runGwctl } from '../harness/gwctl.ts';
import { startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { ask, startMcpWorld, type McpWorld, type McpWorldOptions } from './world.ts';

/** What is retained of tool calls: arguments as sent, results as policy passes them on, and the values of tags. */

let folder: string;
let server: McpStandIn;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatewarden-keys-'));
  writeFileSync(join(folder, 'keys'), `k1:${randomBytes(32).toString('base64')}\n`);
  server = await startMcpServer();
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function start(policy: object): Promise<McpWorld> {
  const options: McpWorldOptions = { servers: { crm: { url: server.url, timeoutSeconds: 1 } }, policy };
  return startMcpWorld(options, { GW_CONTENT_KEY_FILE: join(folder, 'keys') });
}

async function kept({ databaseUrl }: McpWorld, id: string, most = 40): Promise<Record<string, unknown> | undefined> {
  const env = { DATABASE_URL: databaseUrl, GW_CONTENT_KEY_FILE: join(folder, 'keys') };
  for (let tries = 0; tries < most; tries++) {
    const { out } = await runGwctl(['content', 'show', id], { env });
    if (out !== '') return JSON.parse(out) as Record<string, unknown>;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return undefined;
}

async function call(world: McpWorld, args: object): Promise<string> {
  const answer = await ask(world, 'legacy', '/v1/mcp/crm', 'tools/call', { name: 'echo', arguments: args });
  return answer.headers.get('x-request-id')!;
}

test('arguments with tags, the result without what policy masks, and the values of the tags', async () => {
  await using world = await start({
    contentRetention: 'Enabled',
    dlp: { mode: 'Tokenize', tools: { results: 'Mask' } },
  });
  server.behaviour.call = ({ body }) => ({
    content: [{ type: 'text', text: `${JSON.stringify(body.params?.['arguments'])} bob@example.com` }],
  });
  const content = await kept(world, await call(world, { to: 'ada@example.com' }));
  expect(content).toMatchObject({
    v: 1,
    organization: 'default/acme',
    surface: 'mcp',
    wire_format: 'mcp',
    provider: 'mcp/crm',
    model: 'echo',
    request: '{"to":"«EMAIL_1»"}',
    tags: { '«EMAIL_1»': 'ada@example.com' },
    truncated: [],
  });
  expect(content?.['answer']).toContain('«EMAIL_1»');
  expect(content?.['answer']).not.toContain('bob@example.com');
  server.behaviour.call = () => ({ content: [{ type: 'text', text: 'x'.repeat(1_200_000) }] });
  expect(await kept(world, await call(world, {}))).toMatchObject({ request: '{}', truncated: ['answer'] });
}, 60_000);

test('a refused result is not kept; a call without an answer keeps its arguments', async () => {
  await using world = await start({
    contentRetention: 'Enabled',
    dlp: { mode: 'AllowLog', tools: { results: 'Block' } },
  });
  server.behaviour.call = () => ({ content: [{ type: 'text', text: 'bob@example.com' }] });
  expect(await kept(world, await call(world, { a: 1 }))).toMatchObject({ request: '{"a":1}', answer: '' });
  const waiting: ServerResponse[] = [];
  server.behaviour.call = (_received, response) => void waiting.push(response);
  expect(await kept(world, await call(world, { a: 2 }))).toMatchObject({ request: '{"a":2}', answer: '' });
  for (const response of waiting) response.destroy();
}, 60_000);

test('nothing is kept where policy does not say so', async () => {
  await using world = await start({ dlp: { mode: 'AllowLog' } });
  server.behaviour.call = () => ({ content: [] });
  const id = await call(world, { a: 1 });
  await world.gateway.stop();
  // What it had to write is written.
  expect(await kept(world, id, 1)).toBeUndefined();
}, 60_000);
