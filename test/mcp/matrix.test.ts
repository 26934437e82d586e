import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { newKey, resource, startGateway, type GatewayProcess } from '../harness/gateway.ts';
import { startMcpServer, type McpReceived, type McpStandIn } from '../harness/mcp-server.ts';
import { createDatabase } from '../harness/postgres.ts';
import { ask, codeOf, mcpResources, type Sent } from './world.ts';

/**
 * Clients of both eras, servers of both and with sessions of clients, answers as JSON and as streams, every mode of data
 * protection, one gateway and three in turns: every call is answered as its mode has it, and no session is lost.
 */

const MAIL = 'ada@example.com';
const CALLS = 7;
const MODES = ['AllowLog', 'Tokenize', 'Mask', 'Block'] as const;
type Mode = (typeof MODES)[number];
const KINDS = ['shared', 'modern', 'kept'] as const;

const keys = Object.fromEntries(MODES.map((mode) => [mode, newKey()])) as Record<Mode, string>;
const servers = {} as Record<(typeof KINDS)[number], McpStandIn>;
let gateways: readonly GatewayProcess[];
let folder: string;

/** Says which session called, and repeats the arguments. */
function call({ body, headers }: McpReceived): object {
  const told = { session: headers['mcp-session-id'] ?? null, arguments: body.params?.['arguments'] };
  return { content: [{ type: 'text', text: JSON.stringify(told) }] };
}

beforeAll(async () => {
  servers.shared = await startMcpServer({ call });
  servers.modern = await startMcpServer({ era: 'modern', call });
  servers.kept = await startMcpServer({ call });
  const more = MODES.flatMap((mode) => {
    const name = mode.toLowerCase();
    return [
      resource('Workload', name, { organizationRef: { name: 'acme' } }),
      resource('VirtualKey', name, { workloadRef: { name }, hash: { value: hash('sha256', keys[mode], 'hex') } }),
      resource('Policy', name, { targetRefs: [{ kind: 'Workload', name }], defaults: { dlp: { mode } } }),
    ];
  });
  const wanted = {
    servers: {
      shared: { url: servers.shared.url },
      modern: { url: servers.modern.url },
      kept: { url: servers.kept.url, sessions: 'PerClient' },
    },
    more,
  };
  const resources = mcpResources(wanted, newKey());
  const databaseUrl = await createDatabase(inject('databaseUrl'));
  folder = mkdtempSync(join(tmpdir(), 'gatewarden-keys-'));
  const env = { GW_CONTENT_KEY_FILE: join(folder, 'keys') };
  const start = () => startGateway({ resources, redisUrl: inject('redisUrl'), databaseUrl, env });
  // The first makes the key.
  const first = await start();
  gateways = [first, await start(), await start()];
}, 120_000);

afterAll(async () => {
  await Promise.all(gateways?.map((gateway) => gateway.stop()) ?? []);
  for (const server of Object.values(servers)) await server[Symbol.asyncDispose]();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

const CELLS = (['legacy', 'modern'] as const).flatMap((client) =>
  KINDS.flatMap((server) =>
    [false, true].flatMap((streams) =>
      MODES.flatMap((mode) => [1, 3].map((replicas) => ({ client, server, streams, mode, replicas }))),
    ),
  ),
);

test.each(CELLS)(
  '$client client, $server server, streams: $streams, $mode, $replicas gateways',
  async ({ client, server, streams, mode, replicas }) => {
    const standIn = servers[server];
    standIn.behaviour.streams = streams;
    const before = { calls: standIn.of('tools/call').length, opened: standIn.of('initialize').length };
    let turn = 0;
    let session: Record<string, string> = {};
    const send = (method: string, params: Record<string, unknown>): Promise<Sent> => {
      const gateway = gateways[turn++ % replicas]!;
      const path = `/v1/mcp/${server}`;
      return ask({ gateway, key: keys[mode] }, client, path, method, params, session);
    };
    if (client === 'legacy') {
      const clientInfo = { name: 'test', version: '1' };
      const opened = await send('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
      const id = opened.headers.get('mcp-session-id');
      if (id !== null) session = { 'mcp-session-id': id };
    }
    const sessions = new Set<string | null>();
    for (let at = 0; at < CALLS; at++) {
      const answer = await send('tools/call', { name: 'echo', arguments: { mail: MAIL, at } });
      expect(answer.status, answer.text).toBe(200);
      const text = answer.body.result?.content?.[0]?.text ?? '';
      expect(codeOf(answer)).toBe(mode === 'Block' ? 'data_protection' : '');
      if (mode === 'Block') continue;
      const told = JSON.parse(text) as { session: string | null; arguments: { mail: string; at: number } };
      expect(told.arguments.at).toBe(at);
      expect(told.arguments.mail === MAIL).toBe(mode !== 'Mask');
      sessions.add(told.session);
    }
    const received = standIn.of('tools/call').slice(before.calls);
    expect(received).toHaveLength(mode === 'Block' ? 0 : CALLS);
    for (const { text } of received) expect(text.includes(MAIL)).toBe(mode === 'AllowLog');
    // A legacy client of a server that keeps state has one session over all gateways; others share at most one a gateway.
    const isOwn = client === 'legacy' && server === 'kept';
    if (mode !== 'Block' && isOwn) expect([...sessions]).toEqual([expect.stringContaining('session-')]);
    if (server === 'shared') expect(standIn.of('initialize').length - before.opened).toBeLessThanOrEqual(replicas);
  },
);
