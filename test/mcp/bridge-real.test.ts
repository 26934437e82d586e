import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BRIDGE_TOKEN, startBridge, type BridgeProcess } from '../harness/bridge.ts';
import { freePort } from '../harness/free-port.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { secret } from './openapi-world.ts';
import { ask, startMcpWorld, textOf, type McpWorld } from './world.ts';

/** Published servers over standard input (`tools/mcp`), behind the bridge, behind the gateway. */

const PEERS = join(import.meta.dirname, '../../tools/mcp');
const run = promisify(execFile);
const server = (name: string): readonly string[] => [
  process.execPath,
  join(PEERS, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`),
];
const MAIL = 'ada@example.com';
let dir: string;
let port: number;
let files: BridgeProcess;
let memory: BridgeProcess;
let scripted: BridgeProcess;
let world: McpWorld;

const startScripted = (): Promise<BridgeProcess> =>
  startBridge({
    command: [process.execPath, join(import.meta.dirname, 'stdio-server.ts')],
    env: { GW_BRIDGE_PORT: String(port), GW_BRIDGE_MAX_MIB: '1' },
  });

beforeAll(async () => {
  [dir, port] = await Promise.all([mkdtemp(join(tmpdir(), 'gw-bridge-')), freePort()]);
  await writeFile(join(dir, 'todo.txt'), `Call ${MAIL}\n`);
  [files, memory, scripted] = await Promise.all([
    startBridge({ command: [...server('filesystem'), dir] }),
    startBridge({ command: server('memory'), env: { MEMORY_FILE_PATH: join(dir, 'memory.jsonl') } }),
    startScripted(),
  ]);
  const auth = { type: 'Bearer', secretKeyRef: { name: 'bridge', key: 'token' } };
  world = await startMcpWorld({
    servers: {
      files: { url: files.url, auth },
      memory: { url: memory.url, auth, trust: 'Internal' },
      scripted: { url: scripted.url, auth },
      impatient: { url: scripted.url, auth, timeoutSeconds: 2 },
      stranger: { url: files.url },
    },
    policy: { dlp: { mode: 'Tokenize', tools: { internal: 'AllowLog' } } },
    more: [secret('bridge', { token: BRIDGE_TOKEN })],
  });
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await Promise.all([files, memory, scripted].map((one) => one?.[Symbol.asyncDispose]()));
  if (dir) await rm(dir, { recursive: true });
});

const call = (name: string, tool: string, args: object = {}) =>
  ask(world, 'modern', `/v1/mcp/${name}`, 'tools/call', { name: tool, arguments: args });

test.each([
  ['sdk-v1-client.js', undefined],
  ['sdk-v2-client.js', 'auto'],
])(
  '%s (%s) reads a file, on both endpoints',
  async (script, mode) => {
    for (const [path, tool] of [
      ['/v1/mcp/files', 'read_text_file'],
      ['/v1/mcp', 'files__read_text_file'],
    ] as const) {
      const given = JSON.stringify({ path: join(dir, 'todo.txt') });
      const args = [join(PEERS, script), `${world.gateway.url}${path}`, world.key, tool, given];
      const { stdout } = await run(process.execPath, mode === undefined ? args : [...args, mode], { timeout: 40_000 });
      expect(stdout).toContain(`Call ${MAIL}`);
    }
  },
  60_000,
);

test.each(['sdk-v1-client.js', 'sdk-v2-client.js'])('%s talks to the bridge itself, in a session', async (script) => {
  const given = [join(PEERS, script), files.url, files.token, 'list_directory', JSON.stringify({ path: dir })];
  const { stdout } = await run(process.execPath, given, { timeout: 40_000 });
  expect(stdout).toContain('todo.txt');
});

test('an external server gets tags, an internal one originals, and both answer with originals', async () => {
  const path = join(dir, 'out.txt');
  const wrote = await call('files', 'write_file', { path, content: `to ${MAIL}` });
  expect(wrote.body.result?.isError).toBeFalsy();
  expect(await readFile(path, 'utf8')).toBe('to «EMAIL_1»');
  const entities = [{ name: MAIL, entityType: 'person', observations: ['likes tea'] }];
  expect(textOf(await call('memory', 'create_entities', { entities }))).toContain(MAIL);
  expect(await readFile(join(dir, 'memory.jsonl'), 'utf8')).toContain(MAIL);
  const found = await call('memory', 'search_nodes', { query: 'tea' });
  expect(textOf(found)).toContain(MAIL);
  const row = await rowOf(world.databaseUrl, found.headers.get('x-request-id'));
  expect(row).toMatchObject({ model: 'mcp/memory/search_nodes', tool: { eras: ['2026-07-28', '2026-07-28'] } });
});

test('many calls at once get their own answers', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => call('scripted', 'slow', { ms: 100 - at, said: `n${at}` })),
  );
  expect(answers.map(textOf)).toEqual(answers.map((_, at) => `n${at}`));
});

test('a server that answers late, too much or with noise around it fails that call alone', async () => {
  const [late, giant, noisy] = await Promise.all([
    call('impatient', 'never'),
    call('scripted', 'giantLast', { bytes: 3_000_000 }),
    call('scripted', 'garbage', { said: 'here' }),
  ]);
  expect(late.status).toBe(504);
  expect(giant.body.error?.message).toContain('too large');
  expect(textOf(noisy)).toBe('here');
  await expect
    .poll(async () => (JSON.parse(textOf(await call('scripted', 'cancelled'))) as readonly unknown[]).length)
    .toBe(1);
});

test('without the token the bridge answers nothing', async () => {
  const answer = await call('stranger', 'list_directory', { path: dir });
  expect(answer.status).toBe(502);
  expect(answer.text).not.toContain('todo.txt');
});

test('a server that dies fails the calls in progress, and is called again when it is back', async () => {
  const slow = call('scripted', 'slow', { ms: 60_000, said: 'x' });
  await expect.poll(() => scripted.errors().endsWith('called slow\n'), { timeout: 15_000 }).toBe(true);
  const [died, waiting] = await Promise.all([call('scripted', 'die'), slow]);
  expect([died.status, waiting.status]).toEqual([502, 502]);
  expect(await scripted.ended).toBe(1);
  expect((await call('scripted', 'echo', { said: 'x' })).status).toBe(502);
  scripted = await startScripted();
  expect(textOf(await call('scripted', 'echo', { said: 'back' }))).toBe('back');
}, 30_000);

test('a client of the older era goes on after a restart: its session is opened again', async () => {
  const legacy = (said: string) =>
    ask(world, 'legacy', '/v1/mcp/scripted', 'tools/call', { name: 'echo', arguments: { said } });
  expect(textOf(await legacy('one'))).toBe('one');
  await scripted[Symbol.asyncDispose]();
  scripted = await startScripted();
  expect(textOf(await legacy('two'))).toBe('two');
}, 30_000);
