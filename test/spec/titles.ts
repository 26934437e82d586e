import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** A test that stands for a sentence. */
export interface NamedTest {
  /** From the root of the repository. */
  readonly file: string;
  readonly title: string;
}

/** The tests of this folder by the sentences that their titles begin with: `4.3/7 …`, or several numbers. */
export function testsBySentence(): ReadonlyMap<string, readonly NamedTest[]> {
  const found = new Map<string, NamedTest[]>();
  for (const { file, text } of testTexts()) {
    for (const [, title = ''] of text.matchAll(/\(\s*'(\d(?:\.\d)?\/\d[^']*)'/g)) {
      for (const id of numbersOf(title)) {
        const tests = found.get(id) ?? [];
        found.set(id, [...tests, { file, title: wordsOf(title) }]);
      }
    }
  }
  return found;
}

/** The sentences of tests that are to fail. */
export function sentencesOfFailing(): readonly string[] {
  return testTexts().flatMap(({ text }) =>
    [...text.matchAll(/test\.fails\(\s*'([^']*)'/g)].flatMap(([, title = '']) => numbersOf(title)),
  );
}

/** Whether a file has a test, or a list of tests, of this title. */
export function hasTest({ file, title }: NamedTest): boolean {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const told = ["'", '"', '`'].map((quote) => `${quote}${title}${quote},`);
  return text.split('\n').some((line, index, lines) => {
    if (!told.some((one) => line.includes(one))) return false;
    const opening = [lines[index - 1] ?? '', line].join(' ');
    return /\b(?:test|describe)[.(]|\]\)\(|\)\(\s*['"`]/.test(opening);
  });
}

/** `complete.test.ts` is about the table and stands for no sentence. */
function testTexts(): readonly { readonly file: string; readonly text: string }[] {
  const names = readdirSync(import.meta.dirname).filter((name) => /(?<!complete)\.test\.ts$/.test(name));
  return names.sort().map((name) => ({
    file: `test/spec/${name}`,
    text: readFileSync(join(import.meta.dirname, name), 'utf8'),
  }));
}

const numbersOf = (title: string): readonly string[] =>
  (/^(?:\d(?:\.\d)?\/\d+ )+/.exec(title)?.[0] ?? '').trim().split(' ');

const wordsOf = (title: string): string => title.replace(/^(?:\d(?:\.\d)?\/\d+ )+/, '');
