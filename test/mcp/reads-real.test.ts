import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../harness/free-port.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { EVERYTHING, node, Peers, speak } from './peers.ts';
import { ask, startMcpWorld, type McpWorld } from './world.ts';

/** Resources, prompts, completions and instructions of servers of others, read by clients of others. */

interface ReadsReport {
  readonly capabilities: Readonly<Record<string, object>>;
  readonly instructions?: string;
  readonly answers: readonly {
    readonly failed?: number;
    readonly message?: string;
    readonly [member: string]: unknown;
  }[];
}

/** What a client of a library (`v1`, `v2`, `auto`) learns by its requests. */
function asClient(
  library: string,
  url: string,
  key: string,
  requests: readonly (readonly [method: string, params: object])[],
): Promise<ReadsReport> {
  return speak(node('reads-client.js'), [library, url, key, JSON.stringify(requests)]);
}

const peers = new Peers();
let world: McpWorld;
const OFFER = ['Tools', 'Resources', 'Prompts', 'Completions', 'Instructions'];

beforeAll(async () => {
  const port = await freePort();
  const [, reads] = await Promise.all([
    peers.start(node(EVERYTHING), ['streamableHttp'], /listening|running|started/i, { PORT: String(port) }),
    peers.start(node('reads-server.js'), [], /http:\S+/),
  ]);
  world = await startMcpWorld({
    servers: {
      everything: { url: `http://127.0.0.1:${port}/mcp`, offer: OFFER },
      reads: { url: reads, offer: OFFER },
    },
  });
}, 90_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  peers[Symbol.dispose]();
});

const LIBRARIES = ['v1', 'v2', 'auto'];

/** What there is on `/v1/mcp/reads` and `/v1/mcp`. */
const PLACES = [
  { path: '/v1/mcp/reads', notes: 'memo://notes', city: 'city://', visit: 'visit', link: 'link' },
  {
    path: '/v1/mcp',
    notes: 'gw-reads+memo://notes',
    city: 'gw-reads+city://',
    visit: 'reads__visit',
    link: 'reads__link',
  },
];

test.each(LIBRARIES.flatMap((library) => PLACES.map((place) => ({ library, ...place }))))(
  '$library reads a server of the newer library on $path',
  async ({ library, path, notes, city, visit, link }) => {
    const { capabilities, instructions, answers } = await asClient(library, `${world.gateway.url}${path}`, world.key, [
      ['listResources', {}],
      ['listResourceTemplates', {}],
      ['listPrompts', {}],
      ['readResource', { uri: notes }],
      ['readResource', { uri: `${city}Bern` }],
      ['getPrompt', { name: visit, arguments: { city: 'ada@example.com' } }],
      ['complete', { ref: { type: 'ref/prompt', name: visit }, argument: { name: 'city', value: 'Ber' } }],
      ['complete', { ref: { type: 'ref/resource', uri: `${city}{name}` }, argument: { name: 'name', value: 'P' } }],
      ['callTool', { name: link, arguments: {} }],
      ['readResource', { uri: `${notes}/none` }],
      ['getPrompt', { name: 'none' }],
    ]);
    const tools = library === 'auto' ? { listChanged: true } : {};
    expect(capabilities).toEqual({ tools, resources: {}, prompts: {}, completions: {} });
    expect(instructions).toContain('Read notes before cities.');
    const [resources, templates, prompts, read, town, prompt, cities, names, called, missing, unknown] = answers;
    expect(resources?.['resources']).toContainEqual(
      expect.objectContaining({ uri: notes, name: 'notes', title: 'Notes' }),
    );
    expect(templates?.['resourceTemplates']).toContainEqual(expect.objectContaining({ uriTemplate: `${city}{name}` }));
    expect(prompts?.['prompts']).toContainEqual(expect.objectContaining({ name: visit, description: 'Plans a visit' }));
    expect(read?.['contents']).toEqual([{ uri: notes, mimeType: 'text/plain', text: 'Call ada@example.com' }]);
    expect(town?.['contents']).toEqual([expect.objectContaining({ uri: `${city}Bern`, text: 'City of Bern' })]);
    expect(prompt?.['messages']).toEqual([
      { role: 'user', content: { type: 'text', text: 'Plan a visit of ada@example.com' } },
    ]);
    expect(cities?.['completion']).toMatchObject({ values: ['Berlin', 'Bern'] });
    expect(names?.['completion']).toMatchObject({ values: ['Paris'] });
    expect(called?.['content']).toEqual([{ type: 'resource_link', uri: notes, name: 'notes' }]);
    // The newer library says the same of both codes.
    expect(missing?.failed).toBe(library === 'v1' ? -32002 : -32602);
    expect(unknown?.failed).toBe(-32602);
  },
  60_000,
);

test.each(LIBRARIES)(
  '%s reads the server for everything, and follows a link in the result of a tool',
  async (library) => {
    const url = `${world.gateway.url}/v1/mcp`;
    const first = await asClient(library, url, world.key, [
      ['listPrompts', {}],
      ['listResourceTemplates', {}],
      ['listResources', {}],
      ['getPrompt', { name: 'everything__args-prompt', arguments: { city: 'Bern', state: 'BE' } }],
      ['callTool', { name: 'everything__get-resource-links', arguments: { count: 2 } }],
      ['callTool', { name: 'everything__get-resource-reference', arguments: { resourceType: 'Text', resourceId: 1 } }],
    ]);
    const [prompts, templates, resources, prompt, links, reference] = first.answers;
    expect(prompts?.['prompts']).toContainEqual(expect.objectContaining({ name: 'everything__simple-prompt' }));
    expect(JSON.stringify(templates)).toContain('gw-everything+demo://resource/dynamic/text/');
    expect(JSON.stringify(resources)).toContain('gw-everything+demo://resource/static/');
    expect(JSON.stringify(prompt)).toContain('Bern');
    const content = (links?.['content'] ?? []) as readonly { type: string; uri: string }[];
    const uris = content.flatMap(({ type, uri }) => (type === 'resource_link' ? [uri] : []));
    expect(uris.length).toBeGreaterThan(0);
    for (const uri of uris) expect(uri).toMatch(/^gw-everything\+/);
    expect(JSON.stringify(reference)).toContain('gw-everything+');
    const second = await asClient(
      library,
      url,
      world.key,
      uris.map((uri) => ['readResource', { uri }] as const),
    );
    for (const [at, answer] of second.answers.entries())
      expect(answer['contents']).toEqual([expect.objectContaining({ uri: uris[at] })]);
  },
  60_000,
);

test('a read has a row of its own, with the server and no address', async () => {
  const answer = await ask(world, 'legacy', '/v1/mcp', 'resources/read', { uri: 'gw-reads+memo://notes' });
  const row = await rowOf(world.databaseUrl, answer.headers.get('x-request-id'));
  expect(row).toMatchObject({
    model: 'mcp/reads/resources/read',
    provider: 'mcp/reads',
    surface: 'mcp',
    units: { calls: 1 },
    tool: {
      method: 'resources/read',
      definition: null,
      eras: ['2025-03-26', '2026-07-28'],
      result_findings: { EMAIL: 1 },
      is_error: false,
    },
  });
  expect(JSON.stringify(row)).not.toContain('memo:');
  const prompt = await ask(world, 'modern', '/v1/mcp/reads', 'prompts/get', {
    name: 'visit',
    arguments: { city: 'ada@example.com' },
  });
  const told = await rowOf(world.databaseUrl, prompt.headers.get('x-request-id'));
  expect(told).toMatchObject({
    model: 'mcp/reads/prompts/visit',
    dlp: { findings: { EMAIL: 1 } },
    tool: { method: 'prompts/get', eras: ['2026-07-28', '2026-07-28'] },
  });
  expect(told.tool?.definition).toMatch(/^[0-9a-f]{64}$/);
});
