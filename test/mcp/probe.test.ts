import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newKey } from '../harness/gateway.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { mcpResources } from './world.ts';

/** `gwctl mcp probe` before a server of each era, and before none. */

let folder: string;
let legacy: McpStandIn;
let modern: McpStandIn;
let more: McpStandIn;

beforeAll(async () => {
  legacy = await startMcpServer();
  modern = await startMcpServer({ era: 'modern' });
  more = await startMcpServer({
    about: { capabilities: { resources: {}, prompts: {} }, instructions: 'Be kind.' },
    other: ({ body }) =>
      ({
        'prompts/list': { prompts: [{ name: 'visit' }] },
        'resources/list': {
          resources: [
            { uri: 'memo://a', name: 'a' },
            { uri: 'javascript:1', name: 'b' },
          ],
        },
        'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'memo://{id}', name: 't' }] },
      })[body.method ?? ''],
  });
  folder = mkdtempSync(join(tmpdir(), 'gw-probe-'));
  const servers = {
    old: { url: legacy.url },
    new: { url: modern.url },
    gone: { url: 'http://127.0.0.1:9/mcp' },
    more: { url: more.url, offer: ['Tools', 'Resources', 'Prompts', 'Instructions'] },
  };
  const resources = mcpResources({ servers }, newKey());
  writeFileSync(join(folder, 'all.yaml'), resources.map((one) => JSON.stringify(one)).join('\n---\n'));
});

afterAll(async () => {
  await legacy?.[Symbol.asyncDispose]();
  await modern?.[Symbol.asyncDispose]();
  await more?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const probe = (...args: readonly string[]) => runGwctl(['mcp', 'probe', ...args]);

test.each([
  ['old', '2025-11-25'],
  ['new', '2026-07-28'],
])('tells the revision and the hashes of %s', async (name, version) => {
  const { status, out, err } = await probe(name, '--config', folder);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out).toMatch(new RegExp(`^default/${name} at http://\\S+ speaks ${version}\\necho {2}[0-9a-f]{64}\\n$`));
  const told = JSON.parse((await probe(`default/${name}`, '--config', folder, '--json')).out) as object;
  expect(told).toMatchObject({ server: `default/${name}`, version, tool: 'echo', hidden: 0 });
});

test('shows what else a resource offers: hashes of prompts and instructions, URIs of resources', async () => {
  const { status, out, err } = await probe('more', '--config', folder);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out).toMatch(
    /echo {2}[0-9a-f]{64}\nprompts:\nvisit {2}[0-9a-f]{64}\ninstructions:\ninstructions {2}[0-9a-f]{64}\nresources:\nmemo:\/\/a\nresources left out.*: 1\ntemplates:\nmemo:\/\/\{id\}\n$/,
  );
  const told = (await probe('more', '--config', folder, '--json')).out.split('\n').filter(Boolean);
  expect(told.map((line) => JSON.parse(line) as object)).toMatchObject([
    { tool: 'echo' },
    { prompt: 'visit' },
    { instructions: 'instructions' },
    { resource: 'memo://a' },
    { template: 'memo://{id}' },
  ]);
});

test('says why a server does not list its tools', async () => {
  const { status, out, err } = await probe('gone', '--config', folder);
  expect({ status, out }).toEqual({ status: 1, out: '' });
  expect(err).toBe(
    'default/gone at http://127.0.0.1:9/mcp does not list its tools: the connection failed; check spec.endpoint.url and that the server runs\n',
  );
});

test('asks for a server and a folder', async () => {
  expect((await probe()).err).toContain('give one server');
  expect((await probe('old')).err).toContain('--config DIR');
  const unknown = await probe('nothing', '--config', folder);
  expect(unknown.status).toBe(2);
  expect(unknown.err).toContain(
    'reaches an MCPServer "nothing": there are default/old, default/new, default/gone, default/more',
  );
});
