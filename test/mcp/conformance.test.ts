import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UNMET, type Revision, type ServerEra } from './conformance-unmet.ts';
import { node, Peers } from './peers.ts';
import { startMcpWorld, type McpWorld } from './world.ts';

/**
 * The protocol's own conformance suite, all that a revision requires and its unscored scenarios, before a server that
 * passes it, in each era of the server. A relay adds the key, which the suite cannot send. Scenarios that
 * fail are in one list, with reasons: a scenario that fails and is not there, or is there and passes, fails the test.
 */

/** `make test-mcp` runs it before servers of one era alone, too. */
const ALL = process.env['MCP_CLIENTS'] === 'all';
const SUITE = node('node_modules/@modelcontextprotocol/conformance/dist/index.js');
const ERAS: readonly ServerEra[] = ALL ? ['dual', 'legacy', 'modern'] : ['dual'];
const REVISIONS: readonly Revision[] = ['2026-07-28', '2025-11-25'];
const CAPABILITIES = ['Elicitation', 'Sampling', 'Roots'];
/** Fewer than this would be a run that hardly began. */
const LEAST_SCENARIOS = 30;

const peers = new Peers();
let world: McpWorld;
let relay: Server;
let origin: string;
let folder: string;

beforeAll(async () => {
  const urls = await Promise.all(
    ERAS.map((era) => peers.start(node('everything-server.js'), [], /http:\S+/, era === 'dual' ? {} : { ERA: era })),
  );
  relay = createServer((request, response) => {
    const { hostname, port } = new URL(world.gateway.url);
    const headers = { ...request.headers, authorization: `Bearer ${world.key}` };
    const { method, url: path } = request;
    const onward = send({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  origin = `http://localhost:${(relay.address() as AddressInfo).port}`;
  const offer = ['Tools', 'Resources', 'Prompts', 'Completions'];
  const clients = { sessions: 'PerClient', clientCapabilities: CAPABILITIES };
  const spec = { definitions: { mode: 'Record' }, offer, ...clients };
  const servers = Object.fromEntries(ERAS.map((era, at) => [era, { url: urls[at]!, ...spec }]));
  world = await startMcpWorld({ servers, policy: { dlp: { mode: 'AllowLog' } } }, { GW_MCP_ORIGINS: origin });
  folder = mkdtempSync(join(tmpdir(), 'gw-conformance-'));
}, 60_000);

afterAll(async () => {
  relay?.closeAllConnections();
  relay?.close();
  await world?.[Symbol.asyncDispose]();
  peers[Symbol.dispose]();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** All that the suite says of a server. */
function conformance(url: string, revision: Revision): Promise<string> {
  const [file, script] = SUITE;
  return new Promise((resolve) => {
    const args = [script!, 'server', '--url', url, '--requirements', revision, '--timeout', '10000'];
    const options = { cwd: folder, timeout: 240_000, maxBuffer: 64 * 1024 * 1024 };
    execFile(file, args, options, (_, stdout, stderr) => resolve(`${stdout}${stderr}`));
  });
}

test.each(ERAS.flatMap((era) => REVISIONS.map((revision) => ({ era, revision }))))(
  'revision $revision before a server that speaks $era',
  async ({ era, revision }) => {
    const said = await conformance(`${origin}/v1/mcp/${era}`, revision);
    const found = [...said.matchAll(/^([✓✗]) ([\w/.-]+): \d+ passed/gmu)];
    expect(found.length, said.slice(-3000)).toBeGreaterThan(LEAST_SCENARIOS);
    const failed = new Set(found.filter(([, mark]) => mark === '✗').map(([, , scenario]) => scenario));
    const unmet = UNMET.filter((one) => one.revisions.includes(revision) && one.eras.includes(era));
    expect(failed, said.slice(-6000)).toEqual(new Set(unmet.flatMap(({ scenarios }) => scenarios)));
  },
  300_000,
);
