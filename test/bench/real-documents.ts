import { execFile } from 'node:child_process';
import { readFile, rm, writeFile, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { openDocumentEngine } from '#/adapters/inference/documents.ts';
import { DocumentFault, type DocumentEngine, type ReadDocument, type Replacement } from '#/ports/documents.ts';
import { startDocumentEngine } from '../harness/document-engine.ts';

/**
 * Anonymizes real documents of others, each with some of its own words as if they were personal, and looks for these in
 * the result with `pdftotext`. Every document must be answered, or refused for a reason that is known. `make real-documents`.
 */

const run = promisify(execFile);
const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: '.tools/real' },
    seconds: { type: 'string', default: '60' },
    only: { type: 'string' },
  },
});
/** Words of each document that go. */
const WORDS = 5;
const LEAST_LETTERS = 7;
/** What the engine says of an error that no format foresaw. */
const UNFORESEEN = 'the document could not be processed';

interface Line {
  readonly file: string;
  readonly end: string;
  readonly pages: number;
  readonly seconds: number;
  readonly words: number;
  readonly left: readonly string[];
  readonly downgraded: boolean;
}

const lines: Line[] = [];
const running = await startDocumentEngine({ GW_INFERENCE_JOB_SECONDS: values.seconds });
const engine = openDocumentEngine({ url: () => running.url });
try {
  await running.ready();
  for (const path of await pdfsIn(values.folder)) {
    if (values.only !== undefined && !path.includes(values.only)) continue;
    const line = await tried(path, engine);
    lines.push(line);
    process.stdout.write(`${told(line)}\n`);
  }
} finally {
  await engine.close();
  await running.stop();
}
summarize();

async function pdfsIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.pdf$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

async function tried(path: string, by: DocumentEngine): Promise<Line> {
  const bytes = new Uint8Array(await readFile(path));
  const file = { name: basename(path), mediaType: 'application/pdf', bytes };
  const { signal } = new AbortController();
  const began = performance.now();
  const line = (more: Partial<Line>): Line => ({
    ...{ file: path, end: 'done', pages: 0, words: 0, left: [], downgraded: false },
    ...{ seconds: (performance.now() - began) / 1000, ...more },
  });
  let read: ReadDocument | undefined;
  try {
    read = await by.read(file, { recognize: 'auto' }, signal);
    const words = wordsOf(await textOf(bytes), read);
    const options = { layout: read.layout, replacements: replacementsOf(read, words), originals: words };
    const { bytes: result, downgraded } = await by.redact(file, options, signal);
    const text = (await textOf(result)).toLowerCase();
    const left = words.filter((word) => new RegExp(`(?<!\\p{L})${word}(?!\\p{L})`, 'iu').test(text));
    return line({ pages: read.pages, words: words.length, left, downgraded });
  } catch (error) {
    if (!(error instanceof DocumentFault)) throw error;
    const end = error.message === UNFORESEEN ? 'unforeseen' : error.kind;
    return line({ end: `${end}: ${error.message}`, pages: read?.pages ?? 0 });
  }
}

/** Words that another reader sees, and that are somewhere in what was read: the longest come first. */
function wordsOf(text: string, { units }: ReadDocument): readonly string[] {
  const said = units
    .map((unit) => unit.text)
    .join('\n')
    .toLowerCase();
  const words = new Set((text.match(/\p{L}+/gu) ?? []).map((word) => word.toLowerCase()));
  return [...words]
    .filter((word) => word.length >= LEAST_LETTERS && said.includes(word))
    .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
    .slice(0, WORDS);
}

function replacementsOf({ units }: ReadDocument, words: readonly string[]): readonly Replacement[] {
  if (words.length === 0) return [];
  const any = new RegExp(words.join('|'), 'giu');
  return units.flatMap(({ id, text }) =>
    [...text.matchAll(any)].map(({ 0: word, index }) => ({
      ...{ unit: id, start: index, end: index + word.length },
      tag: `«TERM_${words.indexOf(word.toLowerCase()) + 1}»`,
    })),
  );
}

/** What another reader finds; nothing where it cannot read the document. */
async function textOf(bytes: Uint8Array): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'real-'));
  try {
    const path = join(folder, 'a.pdf');
    await writeFile(path, bytes);
    const { stdout } = await run('pdftotext', [path, '-'], { maxBuffer: 1 << 28, timeout: 60_000 });
    return stdout;
  } catch {
    return '';
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function told({ file, end, pages, seconds, words, left, downgraded }: Line): string {
  const pace = pages > 0 ? `${Math.round((1000 * seconds) / pages)} ms a page` : '';
  const shown = left.length > 0 ? `LEFT ${left.join(', ')}` : `${words} words gone`;
  const result = end === 'done' ? `${shown}${downgraded ? ', pages became pictures' : ''}` : end;
  return [file.split('/').slice(-2).join('/'), `${pages} pages`, `${seconds.toFixed(1)} s`, pace, result].join(' | ');
}

function summarize(): void {
  const kindOf = ({ end }: Line): string => end.replace(/:.*/, '');
  const ends = Map.groupBy(lines, kindOf);
  const done = ends.get('done') ?? [];
  const paces = done
    .filter(({ pages, downgraded }) => pages > 2 && !downgraded)
    .map(({ seconds, pages }) => (1000 * seconds) / pages);
  const middle = paces.toSorted((a, b) => a - b)[Math.floor(paces.length / 2)] ?? 0;
  const bad = lines.filter((line) => line.left.length > 0 || kindOf(line) === 'unforeseen');
  const counts = [...ends].map(([end, some]) => `${end} ${some.length}`).join(', ');
  process.stdout.write(
    `${lines.length} documents: ${counts}; ${done.filter(({ downgraded }) => downgraded).length} with pages that became pictures; ` +
      `${bad.length} with a word left or an unforeseen end; ${Math.round(middle)} ms a page in the middle\n`,
  );
  if (bad.length > 0) process.exitCode = 1;
}
