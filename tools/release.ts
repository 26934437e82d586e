import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CHARTS = ['charts/gatewarden/Chart.yaml', 'charts/gatewarden-crds/Chart.yaml'];
const CHANGELOG = 'CHANGELOG.md';
const UNRELEASED = '## Unreleased\n';

/** Why this version cannot be released; undefined: it can. `current`: the version of the tree. */
export function refusalOf(version: string, current: string, changelog: string): string | undefined {
  if (version === '') return 'say which version: make release VERSION=1.2.3';
  if (!/^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(version)) {
    return `the version '${version}' must be three numbers with dots: make release VERSION=1.2.3`;
  }
  if (!isNewer(version, current)) return `the version ${version} must be newer than ${current} of package.json`;
  if (!/^- /m.test(unreleasedIn(changelog))) return `${CHANGELOG} has no entry under "Unreleased": add what changed`;
  return undefined;
}

/** What a release changes: texts by their paths. `read` gives a file as it is. Throws an Error where a version is missing. */
function filesOf(
  version: string,
  current: string,
  day: string,
  read: (path: string) => string,
): ReadonlyMap<string, string> {
  const changelog = read(CHANGELOG);
  return new Map([
    [
      'package.json',
      replaced('package.json', read('package.json'), `"version": "${current}"`, `"version": "${version}"`, 1),
    ],
    [
      'package-lock.json',
      replaced('package-lock.json', read('package-lock.json'), `"version": "${current}"`, `"version": "${version}"`, 2),
    ],
    ...CHARTS.map((path): [string, string] => [
      path,
      replaced(path, read(path), `ersion: ${current}\n`, `ersion: ${version}\n`, 2),
    ]),
    [CHANGELOG, replaced(CHANGELOG, changelog, UNRELEASED, `${UNRELEASED}\n## ${version} (${day})\n`, 1)],
  ]);
}

/** The entries of the version that is not released yet. */
function unreleasedIn(changelog: string): string {
  const at = changelog.indexOf(UNRELEASED);
  if (at < 0) return '';
  const end = changelog.indexOf('\n## ', at + UNRELEASED.length);
  return changelog.slice(at, end < 0 ? undefined : end);
}

function isNewer(version: string, current: string): boolean {
  const [own, other] = [version, current].map((text) => text.split('.').map(Number));
  const at = own!.findIndex((number, index) => number !== other![index]);
  return at >= 0 && own![at]! > other![at]!;
}

/** Replaces the first `count` places of a text. Later ones are of packages that have the same version by chance. */
function replaced(path: string, text: string, from: string, to: string, count: number): string {
  const parts = text.split(from);
  if (parts.length <= count) throw new Error(`${path} must have '${from.trim()}' ${count} times`);
  return (
    parts.slice(0, count + 1).join(to) +
    parts
      .slice(count + 1)
      .map((part) => from + part)
      .join('')
  );
}

/** The standard output of `git`. Ends the program with its message where it fails. */
function git(...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', words, { encoding: 'utf8' });
  if (status !== 0) fail(`git ${words[0]}: ${stderr.trim()}`);
  return stdout;
}

function fail(why: string): never {
  console.error(`release: ${why}`);
  process.exit(2);
}

if (import.meta.main) {
  const [version = ''] = process.argv.slice(2);
  const root = join(import.meta.dirname, '..');
  process.chdir(root);
  const read = (path: string): string => readFileSync(path, 'utf8');
  const current = (JSON.parse(read('package.json')) as { readonly version: string }).version;
  const why = refusalOf(version, current, read(CHANGELOG));
  if (why !== undefined) fail(why);
  if (git('status', '--porcelain') !== '') fail('the tree has changes that are not committed: commit them first');
  if (git('tag', '--list', `v${version}`) !== '') fail(`the tag v${version} exists: choose another version`);
  const files = filesOf(version, current, new Date().toISOString().slice(0, 10), read);
  for (const [path, text] of files) writeFileSync(path, text);
  git('commit', '--quiet', '--message', `Release ${version}`, '--', ...files.keys());
  git('tag', '--annotate', `v${version}`, '--message', `Gatewarden ${version}`);
  console.log(`released ${version}: the commit and the tag v${version} are here, push both: git push --follow-tags`);
}
