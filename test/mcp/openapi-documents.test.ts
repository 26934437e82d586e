import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { mcpFromOpenApi } from '#/cli/mcp/from-openapi.ts';
import { chat } from '../harness/answers.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { sendJson, startHttpApi, type HttpApi } from '../harness/http-api.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { secret } from './openapi-world.ts';
import { startMcpWorld, type McpWorld } from './world.ts';

/** From the description of an API to a client's call: gwctl writes the resource, the gateway runs it. */

const run = promisify(execFile);
const PEERS = join(import.meta.dirname, '../../tools/mcp');

const DESCRIPTION = {
  openapi: '3.0.3',
  info: { title: 'Weather of Towns', version: '2.1' },
  servers: [{ url: 'https://weather.example/v1' }],
  security: [{ key: [] }],
  components: {
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
    schemas: { Town: { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 40 } } } },
  },
  paths: {
    '/towns/{town}/weather': {
      get: {
        operationId: 'getWeather',
        summary: 'Says what the weather is',
        tags: ['weather'],
        parameters: [
          { name: 'town', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'days', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 7 } },
        ],
        responses: { 200: { description: 'ok' } },
      },
    },
    '/towns': {
      post: {
        operationId: 'addTown',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Town' } } },
        },
        responses: { 201: { description: 'made' } },
      },
    },
  },
};

let api: HttpApi;
let model: Upstream;
let world: McpWorld;
let dir: string;

const gwctl = (...args: readonly string[]) => runGwctl(['mcp', ...args]);

beforeAll(async () => {
  [api, model, dir] = await Promise.all([startHttpApi(), startUpstream(), mkdtemp(join(tmpdir(), 'gw-openapi-'))]);
  api.answer = ({ path, text }, response) =>
    sendJson(response, 200, { path, sent: text === '' ? null : (JSON.parse(text) as object) });
  await writeFile(join(dir, 'api.yaml'), stringify(DESCRIPTION));
  await writeFile(join(dir, 'api.json'), JSON.stringify(DESCRIPTION));
  const { out } = await gwctl(
    'from-openapi',
    join(dir, 'api.yaml'),
    '--jurisdiction',
    'EU',
    '--name',
    'weather',
    '--url',
    api.url,
  );
  const resource = parse(out) as object;
  world = await startMcpWorld({
    servers: {},
    upstreamUrl: model.url,
    more: [resource, secret('weather', { token: 'weather-token' })],
  });
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await Promise.all([api?.[Symbol.asyncDispose](), model?.close(), dir && rm(dir, { recursive: true })]);
});

test.each([
  ['sdk-v1-client.js', undefined],
  ['sdk-v2-client.js', undefined],
  ['sdk-v2-client.js', 'auto'],
])(
  '%s (%s) calls an operation on both endpoints',
  async (script, mode) => {
    for (const [path, tool] of [
      ['/v1/mcp/weather', 'getWeather'],
      ['/v1/mcp', 'weather__getWeather'],
    ] as const) {
      const args = [join(PEERS, script), `${world.gateway.url}${path}`, world.key, tool, '{"town":"Köln","days":2}'];
      const { stdout } = await run(process.execPath, mode === undefined ? args : [...args, mode], { timeout: 40_000 });
      const { names, result } = JSON.parse(stdout) as { readonly names: readonly string[]; readonly result: object };
      expect(names).toContain(tool);
      expect(result).toMatchObject({ structuredContent: { path: '/v1/towns/K%C3%B6ln/weather?days=2', sent: null } });
    }
    expect(api.received.at(-1)!.headers.authorization).toBe('Bearer weather-token');
  },
  60_000,
);

test('a model calls operations in the loop that the gateway runs', async () => {
  const client = new OpenAI({ apiKey: world.key, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
  const call = (name: string, args: object) =>
    chat({ content: '', toolCalls: [{ id: `call_${name}`, name, arguments: JSON.stringify(args) }] });
  model.respond([
    call('weather__addTown', { body: { name: 'Ulm' } }),
    call('weather__getWeather', { town: 'Ulm', days: 9 }),
    chat({ content: 'Fine.' }),
  ]);
  const answer = await client.responses.create({
    model: 'upstream/m',
    input: 'Add Ulm. How is the weather there?',
    tools: [{ type: 'mcp', server_label: 'weather', require_approval: 'never' }],
  });
  expect(answer.output_text).toBe('Fine.');
  const ran = answer.output.flatMap((item) => (item.type === 'mcp_call' ? [[item.output, item.error]] : []));
  expect(JSON.stringify(ran[0])).toContain('Ulm');
  expect(JSON.stringify(ran[1])).toContain('/days must be at most 7');
  const { tools } = JSON.parse(model.requests[0]!.body) as { readonly tools: readonly object[] };
  expect(tools).toHaveLength(2);
});

test('chooses operations, takes JSON and the base of the description, and says which steps are left', async () => {
  const wanted = ['--jurisdiction', 'US', '--methods', 'GET', '--tags', 'weather', '--secret', 'keys/weather'];
  const { out, err } = await gwctl('from-openapi', join(dir, 'api.json'), ...wanted);
  expect(parse(out)).toMatchObject({
    metadata: { name: 'weather-of-towns' },
    spec: {
      endpoint: { url: 'https://weather.example/v1' },
      auth: { type: 'Bearer', secretKeyRef: { name: 'keys', key: 'weather' } },
      operations: [{ name: 'getWeather' }],
    },
  });
  expect(out).toMatch(/^# From api.json: Weather of Towns 2.1\n/);
  expect(err).toBe('put the token into the Secret keys/weather\n');
});

test.each([
  [[], '--jurisdiction EU'],
  [['--jurisdiction', 'XX'], 'spec.jurisdiction must be a country'],
  [['--jurisdiction', 'EU', '--methods', 'TRACE'], '--methods takes GET, POST, PUT, PATCH, DELETE'],
  [['--jurisdiction', 'EU', '--only', 'nothing'], 'has no operations'],
  [['--jurisdiction', 'EU', '--url', 'ftp://x'], 'names no whole address'],
  [['--jurisdiction', 'EU', '--url', 'https://u@x.example'], 'must not have a user'],
  [['--jurisdiction', 'EU', '--name', 'A'], '--name takes'],
])('refuses %j', async (args, message) => {
  const said: string[] = [];
  const output = { out: (line: string) => said.push(line), err: (line: string) => said.push(line) };
  await expect(mcpFromOpenApi([join(dir, 'api.json'), ...args], output)).rejects.toThrow(message);
  expect(said).toEqual([]);
});

test('what a description hides is neither written nor shown as it is', async () => {
  const [file, said] = [join(dir, 'hidden.json'), [] as string[]];
  const output = { out: (line: string) => said.push(line), err: (line: string) => said.push(line) };
  const write = (more: object) => writeFile(file, JSON.stringify({ ...DESCRIPTION, ...more }));
  const args = [file, '--jurisdiction', 'EU'];
  await write({ servers: [{ url: 'https://weather.example/v1\u2028x' }] });
  await expect(mcpFromOpenApi(args, output)).rejects.toThrow('a text or name that is not read as it stands');
  expect(said).toEqual([]);
  const operation = { operationId: 'x', description: 'Reads.\u2028x: y', deprecated: false };
  const path = '/ä\nx: y\u2028z\u001b[2J';
  await write({
    info: { title: 'A\rx: y\u2028z' },
    paths: { '/a': { get: operation }, [path]: { get: { servers: [] } } },
  });
  await mcpFromOpenApi(args, output);
  // oxlint-disable-next-line no-control-regex -- what no line may have
  for (const line of said) expect(line).not.toMatch(/[\r\u001b\u0085\u2028\u2029]/);
  expect(said[0]).toBe('# From hidden.json: A x: y z');
  expect(parse(said[1]!)).toMatchObject({ spec: { operations: [{ description: 'Reads.<U+2028>x: y' }] } });
  expect(said.slice(2)).toHaveLength(2);
});

test('probe lists the operations with their hashes, and asks nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gw-openapi-'));
  try {
    const { out } = await gwctl(
      'from-openapi',
      join(dir, 'api.yaml'),
      '--jurisdiction',
      'EU',
      '--name',
      'weather',
      '--url',
      api.url,
    );
    const resources = [
      out,
      stringify(secret('weather', { token: 'weather-token' })),
      'apiVersion: gatewarden.dev/v1alpha1\nkind: Organization\nmetadata: {name: acme}\nspec: {contact: {email: a@acme.example}}',
      'apiVersion: gatewarden.dev/v1alpha1\nkind: Workload\nmetadata: {name: bot}\nspec: {organizationRef: {name: acme}}',
    ];
    await writeFile(join(folder, 'all.yaml'), resources.join('\n---\n'));
    const before = api.received.length;
    const probed = await gwctl('probe', 'weather', '--config', folder);
    expect(probed.out).toMatch(
      /^default\/weather at http:\S+ is described by its resource, and was not asked\ngetWeather {2}[0-9a-f]{64}\naddTown {5}[0-9a-f]{64}\n$/,
    );
    expect(api.received).toHaveLength(before);
  } finally {
    await rm(folder, { recursive: true });
  }
});
