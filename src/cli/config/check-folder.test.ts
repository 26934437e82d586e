import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { make } from '#/config/testing/resources.ts';
import { configCheck } from './check-folder.ts';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-check-'));
});

afterEach(async () => {
  await rm(dir, { recursive: true });
});

async function check(secretsDir?: string): Promise<{ code: number; lines: readonly string[] }> {
  const lines: string[] = [];
  const code = await configCheck({ dir, ...(secretsDir && { secretsDir }) }, (line) => lines.push(line));
  return { code, lines };
}

test('a good folder is summed up', async () => {
  const resources = [
    make('Organization', 'acme'),
    make('Workload', 'bot'),
    make('VirtualKey', 'a'),
    make('VirtualKey', 'b'),
  ];
  await writeFile(join(dir, 'all.yaml'), resources.map((resource) => stringify(resource)).join('---\n'));
  expect(await check()).toEqual({
    code: 0,
    lines: [`${dir} is good: Organization 1, Workload 1, VirtualKey 2`],
  });
});

test('a line for every fault, and how many there are', async () => {
  await writeFile(join(dir, 'a.yaml'), stringify(make('Workload', 'team/bot', { answerTimeoutSeconds: 5, 'x\ny': 1 })));
  await writeFile(join(dir, 'b.yaml'), 'a: 1\na: 2\n');
  await mkdir(join(dir, 'c.yaml'));
  const { code, lines } = await check();
  expect(code).toBe(1);
  expect(lines).toEqual([
    'b.yaml: document 1: line 2: has the key a twice',
    'c.yaml: is not a file',
    'a.yaml: Workload team/bot: spec["x\\ny"]: is not a known field',
    'a.yaml: Workload team/bot: spec.answerTimeoutSeconds: must be at least 10',
    `4 faults in ${dir}`,
  ]);
});

test('secrets are looked for in their folder', async () => {
  const credentials = [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'main' } }];
  await writeFile(join(dir, 'a.yaml'), stringify(make('Provider', 'vendor', { credentials })));
  expect(await check()).toMatchObject({
    code: 1,
    lines: [expect.stringContaining('there is no Secret'), `1 fault in ${dir}`],
  });
  await mkdir(join(dir, '.secrets', 'keys'), { recursive: true });
  await writeFile(join(dir, '.secrets', 'keys', 'main'), 'sk-1');
  expect((await check(join(dir, '.secrets'))).code).toBe(0);
});
