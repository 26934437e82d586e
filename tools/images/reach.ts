import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { importsOf, resolveSpecifier } from '../imports.ts';

/** What a program consists of. */
export interface Reached {
  /** TypeScript files from the repository's root, in order. */
  readonly files: readonly string[];
  /** Names of packages that they import. */
  readonly packages: readonly string[];
}

/** Threads and children: `new URL('./worker.ts', import.meta.url)`. */
const STARTED = /new URL\('(\.{1,2}\/[^']+\.ts)', import\.meta\.url\)/g;

/** Follows imports and threads from entry points. `leave` names files that this program does not start. Throws when a file is missing. */
export function reach(root: string, entries: readonly string[], leave: readonly string[] = []): Reached {
  const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly imports: Readonly<Record<string, string>>;
  };
  const files = new Set<string>();
  const packages = new Set<string>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (files.has(path) || leave.includes(path)) continue;
    if (!existsSync(join(root, path))) throw new Error(`${path} is imported and not there`);
    files.add(path);
    const text = readFileSync(join(root, path), 'utf8');
    for (const { specifier, typeOnly } of importsOf(text)) {
      const target = resolveSpecifier(path, specifier, imports);
      if (typeOnly) continue;
      if (target !== undefined) waiting.push(target);
      else if (!specifier.startsWith('node:')) packages.add(packageOf(specifier));
    }
    for (const [, relative = ''] of text.matchAll(STARTED)) {
      waiting.push(posix.normalize(posix.join(posix.dirname(path), relative)));
    }
  }
  return { files: [...files].sort(), packages: [...packages].sort() };
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
