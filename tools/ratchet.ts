import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PHRASES, phrasesIn, proseOf } from './phrases.ts';
import { identifiersWith, termsOf } from './words.ts';

/** Counts by room, and in a room by phrase or word. */
export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** What may still be there: numbers only fall. */
export interface Ratchet {
  /** Phrases of tools/phrases.ts. */
  readonly phrases: Counts;
  /** Words that the glossary does not use, in identifiers of src/. */
  readonly words: Counts;
}

const FILE = 'tools/ratchet.json';
const GLOSSARY = 'docs/internals/glossary.md';
const TEXTS = [
  '{src,inference,operators,bridge,test,tools}/**/*.{ts,md}',
  '{docs,.github}/**/*.md',
  ...['*.md', 'charts/**/*.{yaml,tpl,txt}', 'k8s/**/*.yaml', 'Makefile'],
];
/** Recorded or generated elsewhere, about phrases themselves, or data of people's language. */
const LEFT_OUT =
  /node_modules|^test\/cassettes|^test\/eval\/|^inference\/training\/data|^docs\/prove\/specification|^tools\/(?:phrases|ratchet)|^test\/documents-check|^CHANGELOG/;

/** The present counts of the repository at `root`. */
export function countNow(root: string): Ratchet {
  const phrases = new Map<string, Map<string, number>>();
  const words = new Map<string, Map<string, number>>();
  const notUsed = termsOf(readFileSync(join(root, GLOSSARY), 'utf8')).flatMap((term) => term.notUsed);
  const paths = new Set(
    TEXTS.flatMap((pattern) => globSync(pattern, { cwd: root })).map((path) => path.replaceAll('\\', '/')),
  );
  for (const path of paths) {
    if (LEFT_OUT.test(path)) continue;
    const text = readFileSync(join(root, path), 'utf8');
    addTo(phrases, roomOf(path), phrasesIn(proseOf(path, text)));
    if (path.startsWith('src/') && path.endsWith('.ts')) addTo(words, roomOf(path), identifiersWith(notUsed, text));
  }
  return { phrases: plain(phrases), words: plain(words) };
}

/** Where there are more than there may be, one readable line each. */
export function excess(allowed: Ratchet, now: Ratchet): string[] {
  return (['phrases', 'words'] as const).flatMap((kind) =>
    Object.entries(now[kind]).flatMap(([room, counts]) =>
      Object.entries(counts).flatMap(([name, count]) => {
        const most = allowed[kind][room]?.[name] ?? 0;
        return count > most ? [`${room}: "${name}" ${count} times, at most ${most}: ${adviceOn(kind, name)}`] : [];
      }),
    ),
  );
}

/** The numbers that may be there from now on: the present ones, and never more than before. */
export function lowered(allowed: Ratchet, now: Ratchet): Ratchet {
  const lower = (kind: keyof Ratchet): Counts =>
    Object.fromEntries(
      Object.entries(now[kind]).flatMap(([room, counts]) => {
        const kept = Object.entries(counts)
          .map(([name, count]) => [name, Math.min(count, allowed[kind][room]?.[name] ?? 0)] as const)
          .filter(([, count]) => count > 0);
        return kept.length > 0 ? [[room, Object.fromEntries(kept)]] : [];
      }),
    );
  return { phrases: lower('phrases'), words: lower('words') };
}

function adviceOn(kind: keyof Ratchet, name: string): string {
  if (kind === 'words') return `${GLOSSARY} has the word to use`;
  return PHRASES.find((phrase) => phrase.name === name)?.better ?? 'say it in plain English';
}

/** `src/<room>`, `src/*.ts`, or the top folder. */
function roomOf(path: string): string {
  const [top = '', second = '', third] = path.split('/');
  if (top === 'src') return third === undefined ? 'src/*.ts' : `src/${second}`;
  if (top === 'docs' && second === 'internals' && path.includes('/decisions/')) return 'docs/internals/decisions';
  return second === '' ? '*.md' : top;
}

function addTo(counts: Map<string, Map<string, number>>, room: string, more: ReadonlyMap<string, number>): void {
  const inRoom = counts.get(room) ?? new Map<string, number>();
  counts.set(room, inRoom);
  for (const [name, count] of more) inRoom.set(name, (inRoom.get(name) ?? 0) + count);
}

function plain(counts: ReadonlyMap<string, ReadonlyMap<string, number>>): Counts {
  const sorted = [...counts].filter(([, inRoom]) => inRoom.size > 0).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    sorted.map(([room, inRoom]) => [room, Object.fromEntries([...inRoom].toSorted(([a], [b]) => (a < b ? -1 : 1)))]),
  );
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const file = join(root, FILE);
  const allowed = JSON.parse(readFileSync(file, 'utf8')) as Ratchet;
  const now = countNow(root);
  if (process.argv.includes('--lower')) {
    writeFileSync(file, `${JSON.stringify(lowered(allowed, now), undefined, 2)}\n`);
  }
  const found = excess(allowed, now);
  for (const line of found) console.error(line);
  process.exitCode = found.length > 0 ? 1 : 0;
}
