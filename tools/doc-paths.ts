import { posix } from 'node:path';
import { lineOf } from './imports.ts';

/** What a document's paths are checked against. */
export interface World {
  /** Whether a path from the repository's root exists. */
  readonly exists: (path: string) => boolean;
  /** Whether any source file has this base name. */
  readonly named: (name: string) => boolean;
}

/** The folders of the repository: a name that starts with one is meant as a path. */
export const FOLDERS = [
  'src',
  'docs',
  'test',
  'tools',
  'inference',
  'operators',
  'bridge',
  'charts',
  'k8s',
  '.ci',
] as const;

const EXTENSION = /\.(?:ts|md|json|sql|lua|yaml|yml|sh)$/;

/**
 * Paths that a Markdown text names in backticks and that are not there, one readable line each. A path is what starts
 * with one of the repository's folders or ends like a file of ours; it may be meant from the root or from the
 * document's own folder. Fenced blocks, URLs, aliases (`#/…`) and what no path can be are left alone.
 */
export function badPaths(doc: { readonly path: string; readonly text: string }, world: World): string[] {
  const prose = doc.text.replace(/^(`{3,}|~{3,})[\s\S]*?^\1/gm, (block) => block.replace(/[^\n]/g, ' '));
  const found: string[] = [];
  for (const match of prose.matchAll(/(?<!`)`([^`\n]+)`(?!`)/g)) {
    const path = fixedPart(match[1] ?? '');
    if (path === undefined) continue;
    const places = [path, posix.join(posix.dirname(doc.path), path)];
    if (places.some(world.exists) || (!path.includes('/') && world.named(path))) continue;
    found.push(`${doc.path}:${lineOf(doc.text, match.index)}: \`${match[1]}\` does not exist`);
  }
  return found;
}

/** The part of a name before its first wildcard or placeholder, without a line number; undefined when it is no path. */
function fixedPart(name: string): string | undefined {
  if (/^[/#~]|\s|:\/\//.test(name)) return undefined;
  const plain = name.replace(/:\d+$/, '');
  const wild = plain.search(/[*{<…]/);
  const path = wild < 0 ? plain : plain.slice(0, plain.lastIndexOf('/', wild) + 1);
  if (!FOLDERS.some((folder) => path.startsWith(`${folder}/`)) && !(wild < 0 && EXTENSION.test(path))) return undefined;
  return path.replace(/\/$/, '');
}

/** Relative links of a Markdown text to files that are not there, one readable line each. */
export function badLinks(doc: { readonly path: string; readonly text: string }, exists: World['exists']): string[] {
  const prose = doc.text.replace(/`[^`\n]*`/g, (code) => ' '.repeat(code.length));
  const found: string[] = [];
  for (const { index, 1: target = '' } of prose.matchAll(/\]\(([^)#:\s]+)(?:#[^)\s]*)?\)/g)) {
    if (exists(posix.join(posix.dirname(doc.path), target))) continue;
    found.push(`${doc.path}:${lineOf(doc.text, index)}: the link to ${target} leads nowhere`);
  }
  return found;
}

/** Numbers that two decisions have, one readable line each. */
export function numbersTwice(paths: readonly string[]): string[] {
  const firsts = new Map<string, string>();
  const found: string[] = [];
  for (const path of paths) {
    const number = posix.basename(path).slice(0, 4);
    const first = firsts.get(number);
    if (first === undefined) firsts.set(number, path);
    else found.push(`${path}: ${posix.basename(first)} has the number ${number} already`);
  }
  return found;
}
