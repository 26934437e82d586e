import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const IMPORTS = `import { beforeAll, describe, expect, test } from 'vitest';
import { skipUnless } from '${join(ROOT, 'test/harness/skip.ts')}';
`;

let folder: string;

beforeAll(() => {
  mkdirSync(join(ROOT, '.tools'), { recursive: true });
  folder = mkdtempSync(join(ROOT, '.tools/reporter-'));
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    `import { PlainReporter } from '${join(ROOT, 'test/harness/plain-reporter.ts')}';
export default { test: { reporters: [new PlainReporter()], pool: 'forks', includeTaskLocation: true } };`,
  );
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Run {
  readonly code: number | null;
  readonly lines: readonly string[];
}

/** Runs these test files with Vitest in a process of its own. */
async function run(files: Readonly<Record<string, string>>, ...options: string[]): Promise<Run> {
  const root = mkdtempSync(join(folder, 'run-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, `${name}.test.ts`), IMPORTS + text);
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const config = join(folder, 'vitest.config.ts');
  const child = spawn(process.execPath, [vitest, 'run', '--root', root, '--config', config, ...options], {
    env: { PATH: process.env['PATH'], NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, lines: output.trimEnd().split('\n') };
}

describe('a run', { timeout: 120_000 }, () => {
  test('that passes ends with the count and code 0', async () => {
    const { code, lines } = await run({
      a: `test('one', () => {}); test('two', () => { console.log('noise'); });
          describe('far', skipUnless(false, 'no cluster here'), () => { test('three', () => {}); });
          test('four', (context) => context.skip('not today'));`,
    });
    expect(lines.at(-1)).toBe('2 passed, 0 failed, 2 skipped');
    expect(lines).toContain('skipped: a.test.ts:4 > far > three: no cluster here');
    expect(lines).toContain('skipped: a.test.ts:5 > four: not today');
    expect(lines.join()).not.toContain('noise');
    expect(code).toBe(0);
  });

  test('with a failed test shows what and where, and what it printed', async () => {
    const { code, lines } = await run({ a: `test('one', () => { console.log('noise'); expect(1 + 1).toBe(3); });` });
    expect(lines.at(-1)).toBe('0 passed, 1 failed, 0 skipped');
    expect(lines).toContain('FAILED a.test.ts:3 > one');
    expect(lines).toContain('  AssertionError: expected 2 to be 3 // Object.is equality');
    expect(lines.join('\n')).toMatch(/^ {2}at a\.test\.ts:3:\d+$/m);
    expect(lines).toContain('  noise');
    expect(code).toBe(1);
  });

  test('counts as failed whatever keeps a test from passing', async () => {
    const { code, lines } = await run({
      skip: `test('ok', () => {}); test.skip('one', () => {}); test.todo('two');`,
      load: `import './gone.ts';`,
      late: `test('ok', async () => {
        setTimeout(() => { throw new Error('too late'); });
        await new Promise((resolve) => setTimeout(resolve, 50));
      });`,
      hook: `describe('d', () => { beforeAll(() => { throw new Error('no'); }); test('one', () => {}); });`,
      dies: `test('one', () => { process.kill(process.pid, 'SIGKILL'); });`,
    });
    expect(lines.filter((line) => line.startsWith('FAILED ') && !line.endsWith(')')).sort()).toEqual([
      'FAILED dies.test.ts:3 > one',
      'FAILED hook.test.ts:3 > d',
      'FAILED hook.test.ts:3 > d > one',
      'FAILED load.test.ts',
      'FAILED outside any test',
      'FAILED outside any test',
      'FAILED skip.test.ts:3 > one',
      'FAILED skip.test.ts:3 > two',
    ]);
    expect(lines).toContain('  too late');
    expect(lines.at(-1)).toBe('2 passed, 8 failed, 0 skipped');
    expect(code).toBe(1);
  });

  test('of skipped tests only fails', async () => {
    const { code, lines } = await run({ a: `test('one', skipUnless(false, 'why'), () => {});` });
    expect(lines.at(-1)).toBe('0 passed, 1 failed, 1 skipped');
    expect(code).toBe(1);
  });

  test('without a test fails', async () => {
    const { code, lines } = await run({});
    expect(lines.at(-1)).toBe('0 passed, 1 failed, 0 skipped');
    expect(code).toBe(1);
  });

  test('of some tests by name leaves out the others', async () => {
    const { code, lines } = await run({ a: `test('one', () => {}); test('two', () => {});` }, '-t', 'one');
    expect(lines.at(-1)).toBe('1 passed, 0 failed, 1 skipped');
    expect(code).toBe(0);
  });
});
