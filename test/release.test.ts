import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { refusalOf } from '../tools/release.ts';

const ROOT = join(import.meta.dirname, '..');
const FILES = [
  ...['CHANGELOG.md', 'package.json', 'package-lock.json', 'tools/release.ts'],
  ...['charts/gatewarden/Chart.yaml', 'charts/gatewarden-crds/Chart.yaml'],
];
const copy = mkdtempSync(join(tmpdir(), 'gatewarden-release-'));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const WHO = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@b.example',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@b.example',
};
const ENVIRONMENT = { PATH: process.env['PATH'], HOME: copy, GIT_CONFIG_NOSYSTEM: '1', ...WHO };

function run(command: string, ...words: readonly string[]): { readonly status: number | null; readonly out: string } {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd: copy, encoding: 'utf8', env: ENVIRONMENT });
  return { status, out: stdout + stderr };
}

const release = (version: string): ReturnType<typeof run> => run(process.execPath, 'tools/release.ts', version);
const text = (path: string): string => readFileSync(join(copy, path), 'utf8');
const versionOf = (path: string): string => (JSON.parse(text(path)) as { readonly version: string }).version;

describe('a release', () => {
  for (const path of FILES) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(ROOT, path), join(copy, path));
  }
  run('git', 'init', '--quiet');
  run('git', 'add', '.');
  run('git', 'commit', '--quiet', '--message', 'All');
  const current = versionOf('package.json');

  test('the changelog has a section of the version of the program', () => {
    expect(text('CHANGELOG.md')).toMatch(
      new RegExp(`^## ${current.replaceAll('.', '\\.')} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, 'm'),
    );
  });

  test('waits for changes that are not committed', () => {
    cpSync(join(copy, 'package.json'), join(copy, 'left-behind.json'));
    expect(release('999.0.0')).toEqual({
      status: 2,
      out: 'release: the tree has changes that are not committed: commit them first\n',
    });
    rmSync(join(copy, 'left-behind.json'));
  });

  test('writes the version everywhere, as one commit with a tag', () => {
    expect(run('git', 'status', '--porcelain').out).toBe('');
    // After a release nothing is under "Unreleased" until the next change.
    const isChanged = refusalOf('999.0.0', current, text('CHANGELOG.md')) === undefined;
    const { status, out } = release('999.0.0');
    if (!isChanged) {
      expect({ status, out }).toEqual({
        status: 2,
        out: 'release: CHANGELOG.md has no entry under "Unreleased": add what changed\n',
      });
      return;
    }
    expect(out).toContain('released 999.0.0');
    expect(status).toBe(0);
    expect(['package.json', 'package-lock.json'].map(versionOf)).toEqual(['999.0.0', '999.0.0']);
    const lock = JSON.parse(text('package-lock.json')) as {
      readonly packages: Record<string, { readonly version: string }>;
    };
    expect(lock.packages['']?.version).toBe('999.0.0');
    for (const chart of ['gatewarden', 'gatewarden-crds'])
      expect(parse(text(`charts/${chart}/Chart.yaml`))).toMatchObject({ version: '999.0.0', appVersion: '999.0.0' });
    expect(text('CHANGELOG.md')).toMatch(/\n## Unreleased\n\n## 999\.0\.0 \(\d{4}-\d\d-\d\d\)\n\n### /);
    expect(run('git', 'describe').out).toBe('v999.0.0\n');
    expect(run('git', 'status', '--porcelain').out).toBe('');
    expect(release('999.0.1').out).toContain('no entry under "Unreleased"');
  });

  test.each([
    ['', /^say which version/],
    ['1.2', /must be three numbers with dots/],
    ['v1.2.3', /must be three numbers with dots/],
    ['1.2.3\n', /must be three numbers with dots/],
    ['0.3.0', /must be newer than 0\.3\.0/],
    ['0.2.9', /must be newer than 0\.3\.0/],
  ])('%j is refused', (version, why) => {
    expect(refusalOf(version, '0.3.0', '## Unreleased\n\n- a\n')).toMatch(why);
  });

  test('numbers are compared as such', () => {
    expect(refusalOf('0.10.0', '0.9.1', '## Unreleased\n\n- a\n')).toBeUndefined();
  });

  test('a version without an entry is refused', () => {
    expect(refusalOf('1.0.0', '0.9.1', '## Unreleased\n\n## 0.9.1 (2026-01-01)\n\n- a\n')).toMatch(/no entry/);
  });
});
