import { execFileSync, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const places: string[] = [];
afterAll(() => places.forEach((place) => rmSync(place, { recursive: true, force: true })));

/** The gateway as its image has it: only what it consists of, and no place to write next to it. */
function installed(): string {
  const place = mkdtempSync(join(tmpdir(), 'gatewarden-image-'));
  places.push(place);
  for (const name of ['src', 'k8s', 'package.json']) cpSync(join(ROOT, name), join(place, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(place, 'node_modules'));
  return place;
}

function compile(cwd: string): void {
  execFileSync(process.execPath, ['--predictable', join(ROOT, 'tools/images/compile.ts'), 'gateway'], { cwd });
}

function sumsOf(folder: string): Record<string, string> {
  const sums = readdirSync(folder).map((file) => [file, hash('sha256', readFileSync(join(folder, file)))] as const);
  return Object.fromEntries(sums);
}

/** What Node.js says of compiled code in a start that ends with the fault of a setting. */
function start(cwd: string, tmp: string): { readonly said: string; readonly status: number | null } {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--max-semi-space-size=32', 'src/start.js'], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { PATH: process.env['PATH'], TMPDIR: tmp, NODE_DEBUG_NATIVE: 'COMPILE_CACHE', GW_UNHEARD: '1' },
  });
  return { said: stdout + stderr, status };
}

test('an image starts with compiled code alone, which is the same in each build', () => {
  const place = installed();
  compile(place);
  const shipped = join(place, '.compiled/shipped');
  const files = readdirSync(shipped);
  const before = sumsOf(shipped);
  expect(files.length).toBeGreaterThan(1500);
  expect(new Set(files.map((file) => statSync(join(shipped, file)).mode & 0o777))).toEqual(new Set([0o644]));

  const tmp = mkdtempSync(join(tmpdir(), 'gatewarden-tmp-'));
  places.push(tmp);
  for (let time = 0; time < 2; time++) {
    const { said, status } = start(place, tmp);
    expect(status).toBe(2);
    expect(said.includes('GW_UNHEARD is not a setting')).toBe(true);
    const lines = said.split('\n').filter((line) => line.startsWith('[compile cache]'));
    // Such a start loads the settings and the log, not the gateway.
    expect(lines.filter((line) => line.includes('was accepted')).length).toBeGreaterThan(40);
    expect(lines.filter((line) => /rejected|no such file|mismatch/.test(line))).toEqual([]);
  }
  const [own] = readdirSync(tmp);
  expect(statSync(join(tmp, own!)).mode & 0o777).toBe(0o700);

  rmSync(join(place, '.compiled'), { recursive: true });
  compile(place);
  expect(sumsOf(shipped)).toEqual(before);
}, 300_000);

test('compiled code that another user could have written is not loaded', () => {
  const place = installed();
  compile(place);
  const tmp = mkdtempSync(join(tmpdir(), 'gatewarden-tmp-'));
  places.push(tmp);
  // As another user of the machine might leave it: open to others.
  const name = `gatewarden-compiled-${process.getuid?.()}`;
  cpSync(join(place, 'k8s'), join(tmp, name), { recursive: true });
  execFileSync('chmod', ['0777', join(tmp, name)]);
  const { said, status } = start(place, tmp);
  expect(status).toBe(2);
  expect(said.match(/was accepted/g)).toBeNull();
});
