import { execFile } from 'node:child_process';
import { createServer, request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startMcpServer, type McpBehaviour, type McpStandIn } from '../harness/mcp-server.ts';
import { startMcpWorld, type McpWorld } from './world.ts';

/** The protocol's own conformance suite, as far as it is about tools. A relay adds the key, which the suite cannot send. */

const SUITE = join(import.meta.dirname, '../../tools/mcp/node_modules/@modelcontextprotocol/conformance/dist/index.js');
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SOUND = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const TEXT = { type: 'text', text: 'This is a simple text response for testing.' };
const IMAGE = { type: 'image', data: PIXEL, mimeType: 'image/png' };
const RESOURCE = {
  type: 'resource',
  resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' },
};
const RESULTS: Readonly<Record<string, object>> = {
  test_simple_text: { content: [TEXT] },
  test_image_content: { content: [IMAGE] },
  test_audio_content: { content: [{ type: 'audio', data: SOUND, mimeType: 'audio/wav' }] },
  test_embedded_resource: { content: [RESOURCE] },
  test_multiple_content_types: {
    content: [{ type: 'text', text: 'Multiple content types test:' }, IMAGE, RESOURCE],
  },
  test_error_handling: {
    content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
    isError: true,
  },
  test_tool_with_progress: { content: [TEXT] },
  test_logging_tool: { content: [TEXT] },
  test_missing_capability: { content: [TEXT] },
  test_streaming_elicitation: { content: [TEXT] },
  test_custom_headers: { content: [TEXT] },
  test_custom_headers_null: { content: [TEXT] },
};
const HEADERS = { region: { type: 'string', 'x-mcp-header': 'Region' } };

const call: McpBehaviour['call'] = ({ body }, response) => {
  const name = String(body.params?.['name']);
  const result = RESULTS[name];
  if (name === 'test_missing_capability') {
    const error = { code: -32021, message: 'needs sampling', data: { requiredCapabilities: { sampling: {} } } };
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: body.id, error }));
    return undefined;
  }
  if (name !== 'test_tool_with_progress') return result;
  const { progressToken } = (body.params?.['_meta'] ?? {}) as { progressToken?: string };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const progress of [0, 50, 100]) {
    const params = { progressToken, progress, total: 100 };
    response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`);
  }
  const whole = { jsonrpc: '2.0', id: body.id, result: { resultType: 'complete', ...result } };
  response.end(`data: ${JSON.stringify(whole)}\n\n`);
  return undefined;
};

let server: McpStandIn;
let world: McpWorld;
let relay: Server;
let url: string;
let folder: string;

beforeAll(async () => {
  server = await startMcpServer({
    era: 'modern',
    tools: Object.keys(RESULTS).map((name) => ({
      name,
      description: 'A tool of the suite',
      inputSchema: { type: 'object', properties: name.startsWith('test_custom') ? HEADERS : {} },
    })),
    call,
  });
  relay = createServer((request, response) => {
    const { hostname, port } = new URL(world.gateway.url);
    const headers = { ...request.headers, authorization: `Bearer ${world.key}` };
    const { method, url: path } = request;
    const onward = send({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const origin = `http://localhost:${(relay.address() as AddressInfo).port}`;
  const servers = { everything: { url: server.url, definitions: { mode: 'Record' } } };
  world = await startMcpWorld({ servers, policy: { dlp: { mode: 'AllowLog' } } }, { GW_MCP_ORIGINS: origin });
  url = `${origin}/v1/mcp/everything`;
  folder = mkdtempSync(join(tmpdir(), 'gw-conformance-'));
}, 60_000);

afterAll(async () => {
  relay?.close();
  await world?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** Exit status of the suite and all that it says. */
function conformance(scenario: string, revision: string): Promise<{ status: number; said: string }> {
  const args = [SUITE, 'server', '--url', url, '--scenario', scenario, '--spec-version', revision, '--verbose'];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ status: error ? 1 : 0, said: `${stdout}${stderr}` });
    });
  });
}

/** The checks that failed, of all that the suite says. */
function failed(said: string): string {
  return said.slice(said.indexOf('=== Failed Checks'), said.indexOf('=== Failed Checks') + 3000);
}

const TOOLS = [
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
];
const MODERN = [
  'server-stateless',
  'dns-rebinding-protection',
  'http-header-validation',
  'http-custom-header-server-validation',

  'server-sse-multiple-streams',
];
const LEGACY = ['server-initialize', 'ping', 'dns-rebinding-protection'];

test.each([
  ...[...TOOLS, ...MODERN].map((scenario) => ({ scenario, revision: '2026-07-28' })),
  ...[...TOOLS, ...LEGACY].map((scenario) => ({ scenario, revision: '2025-11-25' })),
])(
  '$revision $scenario',
  async ({ scenario, revision }) => {
    const { status, said } = await conformance(scenario, revision);
    expect(status, failed(said)).toBe(0);
  },
  90_000,
);
