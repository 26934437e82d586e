import { posix } from 'node:path';

/** One import or re-export of a module. */
export interface Import {
  readonly specifier: string;
  /** Line it starts on, from 1. */
  readonly line: number;
  /** Erased before the program runs. */
  readonly typeOnly: boolean;
}

const FROM =
  /^(?:import|export)\s+(type\s+)?((?:[\w$]+\s*,?\s*)?(?:\{[^}]*\}|\*(?:\s+as\s+[\w$]+)?)?)\s*from\s*['"]([^'"\n]+)['"]/gm;
const BARE = /^import\s*['"]([^'"\n]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"]([^'"\n]+)['"]\s*\)/g;

/** Every import of a TypeScript text: statements at the start of a line, and `import()` of a literal anywhere. */
export function importsOf(text: string): Import[] {
  const found: Import[] = [];
  for (const match of text.matchAll(FROM)) {
    const typeOnly = match[1] !== undefined || namesOnlyTypes(match[2] ?? '');
    found.push({ specifier: match[3] ?? '', line: lineOf(text, match.index), typeOnly });
  }
  for (const pattern of [BARE, DYNAMIC]) {
    for (const match of text.matchAll(pattern)) {
      found.push({ specifier: match[1] ?? '', line: lineOf(text, match.index), typeOnly: false });
    }
  }
  return found;
}

function namesOnlyTypes(clause: string): boolean {
  const names = /^\{([^}]*)\}\s*$/
    .exec(clause)?.[1]
    ?.split(',')
    .filter((name) => name.trim() !== '');
  return names !== undefined && names.length > 0 && names.every((name) => name.trim().startsWith('type '));
}

/** Line number, from 1, of an offset in a text. */
export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/**
 * The path, from the repository's root, that a specifier in `path` names; undefined for a package or a Node.js module.
 * `aliases` maps `#/*` to `./src/*`, as in package.json.
 */
export function resolveSpecifier(
  path: string,
  specifier: string,
  aliases: Readonly<Record<string, string>>,
): string | undefined {
  if (specifier.startsWith('.')) return posix.normalize(posix.join(posix.dirname(path), specifier));
  for (const [alias, target] of Object.entries(aliases)) {
    const prefix = alias.replace(/\*$/, '');
    if (specifier.startsWith(prefix)) {
      return posix.normalize(target.replace('*', specifier.slice(prefix.length)));
    }
  }
  return undefined;
}
