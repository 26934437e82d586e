import { posix } from 'node:path';
import { lineOf } from './imports.ts';

/** A document as the checks see it: its path from the repository's root, and its text. */
export interface Doc {
  readonly path: string;
  readonly text: string;
}

const WIDTH = 120;
const NOT_WRAPPED = /^\s*(?:\||#|!\[)|^\s*(?:- )?\[[^\]]*\]\([^)]*\)[.,)]*$/;

/** Where text is not prose: fenced blocks, with their lines left empty. */
export function withoutFences(text: string): string {
  return text.replace(/^( *)(`{3,}|~{3,})[\s\S]*?^\1\2/gm, (block) => block.replace(/[^\n]/g, ''));
}

/** Lines of prose over 120 characters; tables, headings, pictures and lines that are one link may be longer. */
export function longLines({ path, text }: Doc): string[] {
  return withoutFences(text)
    .split('\n')
    .flatMap((line, index) => {
      if (line.length <= WIDTH || NOT_WRAPPED.test(line)) return [];
      return [`${path}:${index + 1}: ${line.length} characters; wrap prose at ${WIDTH}`];
    });
}

/** Links to a heading that is not there, in the same file or another one. `read`: the text of a file, where it exists. */
export function badAnchors({ path, text }: Doc, read: (path: string) => string | undefined): string[] {
  const prose = text.replace(/`[^`\n]*`/g, (code) => ' '.repeat(code.length));
  const found: string[] = [];
  for (const { index, 1: target = '', 2: anchor = '' } of prose.matchAll(/\]\(([^)#:\s]*)#([^)\s]+)\)/g)) {
    const file = target === '' ? text : read(posix.join(posix.dirname(path), target));
    if (file === undefined || !file || (target !== '' && !target.endsWith('.md'))) continue;
    if (anchorsOf(file).has(anchor)) continue;
    found.push(`${path}:${lineOf(text, index)}: the link to ${target}#${anchor} leads to no heading`);
  }
  return found;
}

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...withoutFences(text).matchAll(/^#{1,6} +(.+?) *$/gm)];
  return new Set(headings.map(([, heading = '']) => slugOf(heading)));
}

function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/ /g, '-');
}
