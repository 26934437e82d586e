import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Places } from './evaluation.ts';

/** A number from 0 to 99 that a text draws for itself: as `roll` in inference/training/typed/data.py. */
export function rollOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) % 100;
}

/** So many of a list whatever its order is: those whose texts hash lowest. */
export function sampled<T>(list: readonly T[], most: number, textOf: (one: T) => string): readonly T[] {
  const hashed = list.map((one) => ({ one, hash: createHash('sha256').update(textOf(one)).digest('hex') }));
  const ordered = hashed.toSorted((a, b) => (a.hash < b.hash ? -1 : 1));
  return ordered.slice(0, most).map(({ one }) => one);
}

/** What an item of our own draws: those of one number draw the same in all languages. */
export function rollOfId(id: string): number {
  return rollOf(id.slice(id.lastIndexOf('-') + 1));
}

/**
 * Those of some texts that training may read: a string of its data, ours and the shared, is the same but for case and
 * spaces at its ends; or the list of purposes has it, or that of words.
 */
export function learned(texts: readonly string[], { data, own }: Pick<Places, 'data' | 'own'>): readonly string[] {
  const lists = ['purposes.json', 'concepts.txt']
    .map((file) => plain(readFileSync(path.join(own, file), 'utf8')))
    .join('\n');
  const left = new Map(texts.map((text) => [plain(text), text]));
  const found = [...left].filter(([text]) => lists.includes(text)).map(([, text]) => text);
  for (const line of linesOf(data, own)) {
    for (const said of stringsOf(JSON.parse(line))) {
      const text = left.get(plain(said));
      if (text !== undefined) found.push(text);
    }
  }
  return [...new Set(found)];
}

function plain(text: string): string {
  return text.trim().toLowerCase();
}

function* linesOf(data: string, own: string): Generator<string> {
  const shared = ['decisions', 'router', 'pii', 'ner'].flatMap((folder) =>
    globSync(path.join(data, folder, '*.jsonl.gz')),
  );
  for (const file of shared) yield* gunzipSync(readFileSync(file)).toString().split('\n').filter(Boolean);
  for (const file of globSync(path.join(own, '*.jsonl'))) {
    yield* readFileSync(file, 'utf8').split('\n').filter(Boolean);
  }
}

function* stringsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) yield* stringsOf(each);
}
