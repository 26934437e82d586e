import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../harness/free-port.ts';

/**
 * The commands of docs/guides/give-agents-tools.md, run as they stand there. Only ports and folders are others, and `npx`
 * takes packages that `make mcp` has installed.
 */

const ROOT = join(import.meta.dirname, '../..');
const GUIDE = readFileSync(join(ROOT, 'docs/guides/give-agents-tools.md'), 'utf8');
const NPX = `#!/bin/sh
while :; do
  case $1 in
    -y) shift ;;
    -p) shift 2 ;;
    *) break ;;
  esac
done
name=$1
shift
case $name in @modelcontextprotocol/*) name=mcp-\${name#@modelcontextprotocol/} ;; esac
exec "$name" "$@"
`;

let folder: string;
let env: Record<string, string>;
let replaced: readonly (readonly [string, string])[];
const running: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatewarden-guide-'));
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'home'));
  writeFileSync(join(folder, 'bin/npx'), NPX);
  chmodSync(join(folder, 'bin/npx'), 0o755);
  const [gateway, everything, files] = [await freePort(), await freePort(), await freePort()];
  replaced = [
    ['127.0.0.1:8080', `127.0.0.1:${gateway}`],
    ['3101', String(everything)],
    ['3102', String(files)],
    ['/tmp/gateway', join(folder, 'gateway')],
    ['/tmp/notes', join(folder, 'notes')],
  ];
  env = {
    PATH: `${join(folder, 'bin')}:${join(ROOT, 'tools/mcp/node_modules/.bin')}:${join(ROOT, 'tools/agents/node_modules/.bin')}:${process.env['PATH']}`,
    HOME: join(folder, 'home'),
    PORT: String(gateway),
    ADMIN_PORT: '0',
    GW_DATA_DIR: join(folder, 'data'),
    GW_INFERENCE: 'off',
  };
});

afterAll(() => {
  for (const { pid, exitCode } of running) {
    // The shell and all that it has started.
    if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL');
  }
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** The block of commands of the guide that has these words in it. */
function block(words: string): string {
  const blocks = [...GUIDE.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, text]) => text ?? '');
  const found = blocks.filter((text) => text.includes(words));
  if (found.length !== 1) throw new Error(`${found.length} blocks of the guide have ${words}`);
  const indent = /^ */.exec(found[0]!)![0];
  const text = found[0]!.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
  return replaced.reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
}

function shell(commands: string, more: Record<string, string>): ChildProcess {
  const child = spawn('bash', ['-c', commands], { cwd: ROOT, env: { ...env, ...more }, detached: true });
  running.push(child);
  return child;
}

/** Runs commands until they say that they are ready; they go on running. */
function start(commands: string, ready: RegExp): Promise<void> {
  const child = shell(commands, {});
  return new Promise((resolve, reject) => {
    let said = '';
    const hear = (bytes: Buffer): void => {
      said += bytes.toString();
      if (ready.test(said)) resolve();
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.on('exit', (code) => reject(new Error(`${commands}\nended with ${code}: ${said}`)));
  });
}

/** Runs commands to their end. Resolves with all that they say. */
function run(commands: string, more: Record<string, string> = {}): Promise<string> {
  const child = shell(commands, more);
  return new Promise((resolve, reject) => {
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (bytes: Buffer) => void (said += bytes.toString()));
    child.on('close', (code) => {
      running.splice(running.indexOf(child), 1);
      if (code === 0) resolve(said);
      else reject(new Error(`${commands}\nended with ${code}: ${said}`));
    });
  });
}

test('two public servers, a gateway and a call of each, with the commands of the guide', async () => {
  await Promise.all([
    start(block('server-everything streamableHttp'), /listening|running|started/i),
    start(block('supergateway --port'), /Listening on port/),
  ]);
  const key = /gw_\w+_[\w-]{40,}/.exec(await run(block('key create')))?.[0];
  expect(key).toBeDefined();
  await start(block('make run'), /gateway\.listening/);
  const calls = block('call() {');
  const said = await run(calls, { KEY: key! });
  const [list, echo, file] = said.split('\n').flatMap((line) => line.match(/\{"jsonrpc".*?\}(?=\{"jsonrpc"|$)/g) ?? []);
  const names = (JSON.parse(list!) as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['everything__echo', 'everything__get-sum', 'files__read_text_file']));
  expect(names.filter((name) => !/^(everything__(echo|get-sum)|files__(read|list)_\w+)$/.test(name))).toEqual([]);
  expect(echo).toContain('Echo: Write to ada@example.com');
  expect(file).toContain('Call ada@example.com');

  expect(await run(block('explain --config'))).toContain('mcp/files/read_text_file: selected');

  const added = block('mcp add --transport http gatewarden http');
  await run(added, { KEY: key! });
  expect(await run('claude mcp list')).toMatch(/gatewarden: http.*Connected/);
}, 180_000);
