import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createNumbers, wordsOf } from './words.ts';

interface Example {
  readonly text: string;
  /** Word, gap before it, its numbers. */
  readonly words: readonly (readonly [string, ...number[]])[];
}

const examples = JSON.parse(
  readFileSync(new URL('./words-examples.json', import.meta.url), 'utf8'),
) as readonly Example[];

test.each(examples)('words and their numbers are those that names were trained on: $text', ({ text, words }) => {
  const numbersOf = createNumbers();
  const found = wordsOf(text).map(({ start, end, gap }) => {
    const word = text.slice(start, end);
    return [word, gap, ...numbersOf(word)];
  });
  expect(found).toEqual(words);
});
