import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { decisionFaults, indexFaults } from './decisions.ts';
import { badLinks, badPaths, FOLDERS, numbersTwice } from './doc-paths.ts';
import { readmeFaults } from './room-readmes.ts';
import { badAnchors, longLines, type Doc } from './prose.ts';

const DECISIONS = 'docs/internals/decisions';
/** Everything that people read, less generated pages. */
const DOCUMENTS = [
  ...['*.md', '.github/**/*.md', 'docs/**/*.md', 'src/**/*.md', 'test/**/README.md'],
  ...['operators/*.md', 'bridge/*.md', 'inference/**/*.md', 'tools/*/README.md'],
];
const GENERATED = /^docs\/(?:reference\/(?!http-api\.md)|prove\/specification\.md)/;
/** Names files of other places. */
const NAMES_OTHER_PATHS = /^(?:inference\/|CHANGELOG\.md)/;
/** One sentence a line instead of 120 characters, or not wrapped yet. */
const WIDE = /^(?:docs\/internals\/decisions\/\d|inference\/)/;

/** Applies the checks of documents to the repository at `root`: paths, links, headings, width, decisions, READMEs of rooms. */
export function checkDocuments(root: string): string[] {
  const list = (pattern: string): string[] =>
    globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] })
      .map((path) => path.replaceAll('\\', '/'))
      .sort();
  const read = (path: string): Doc => ({ path, text: readFileSync(join(root, path), 'utf8') });
  const docs = [...new Set(DOCUMENTS.flatMap(list))].map(read);
  const names = new Set(list(`{${FOLDERS.join(',')}}/**/*.*`).map((path) => posix.basename(path)));
  const exists = (path: string): boolean => existsSync(join(root, path));
  const world = { exists, named: (name: string) => names.has(name) };
  const textOf = (path: string): string | undefined => (exists(path) ? read(path).text : undefined);
  const folders = list('{src,test}/*/').map((path) => path.replace(/\/$/, ''));
  const decisions = docs.filter(
    ({ path }) => /^\d/.test(path.slice(DECISIONS.length + 1)) && path.startsWith(DECISIONS),
  );
  return [
    ...docs.flatMap((doc) => [
      ...(NAMES_OTHER_PATHS.test(doc.path) ? [] : badPaths(doc, world)),
      ...badLinks(doc, exists),
      ...badAnchors(doc, textOf),
      ...(GENERATED.test(doc.path) || WIDE.test(doc.path) ? [] : longLines(doc)),
    ]),
    ...readmeFaults(folders.map((folder) => ({ folder, text: textOf(`${folder}/README.md`) }))),
    ...numbersTwice(decisions.map(({ path }) => path)),
    ...decisions.flatMap(decisionFaults),
    ...indexFaults(read(`${DECISIONS}/README.md`), decisions),
  ];
}
