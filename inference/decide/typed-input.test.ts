import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openGlossary } from './glossary.ts';
import { openTokenizer } from './tokenizer.ts';
import {
  readState,
  rowsOf,
  rowTexts,
  sizeOf,
  stateText,
  TooLong,
  windowsOf,
  type TypedLimits,
  type TypedQuestion,
} from './typed-input.ts';

interface Example {
  readonly state: unknown;
  readonly question: TypedQuestion;
  readonly windows: readonly (readonly number[])[];
  readonly rows: readonly { readonly ids: readonly number[]; readonly features: readonly number[] }[];
}

const fileAt = (path: string): Buffer => readFileSync(new URL(path, import.meta.url));
const examples = JSON.parse(fileAt('./typed-examples.json').toString('utf8')) as readonly Example[];
const tokenizer = openTokenizer(fileAt('../models/router/tokenizer.json'));
const LIMITS: TypedLimits = { tokens: 128, windows: 32, row: 256, question: 1024, questions: 3200 };
const glossary = openGlossary(fileAt('../models/router/glossary.txt'));
const READER = { tokenizer, glossary, limits: LIMITS };

describe('states and questions become the numbers that the model was trained on', () => {
  test.each(examples.map((example, index) => [index, example] as const))('example %i', (_index, example) => {
    const text = readState(example.state, READER);
    expect(windowsOf(text, READER)).toEqual(example.windows);
    const [rows = []] = rowsOf([example.question], text, READER);
    expect(rows.map(({ stretches }) => stretches)).toEqual(example.rows.map(({ ids }) => [ids]));
    const features = rows.flatMap((row) => row.features);
    const wanted = example.rows.flatMap((row) => row.features);
    expect(features).toHaveLength(wanted.length);
    for (const [at, value] of features.entries()) expect(value).toBeCloseTo(wanted[at] ?? Number.NaN, 5);
  });

  test('up to where a state ends', () => {
    expect(Math.max(...examples.map(({ windows }) => windows.length))).toBe(32);
    expect(Math.max(...examples.flatMap(({ windows }) => windows.map(({ length }) => length)))).toBe(128);
  });
});

test('384 words of a state are read', () => {
  const words = Array.from({ length: 400 }, (_, index) => `w${index}`);
  expect(stateText(words.join(' '))).toBe(`${words.slice(0, 384).join(' ')} `);
  expect(stateText(words)).toBe(`${words.slice(0, 384).join('\n')}\n`);
  expect(stateText(words.slice(0, 384).join('  '))).toBe(words.slice(0, 384).join('  '));
});

test('blanks take no place of words', () => {
  expect(stateText(`${'\n \u3000'.repeat(30_000)}a word${'\t'.repeat(50_000)}and more`).trim()).toMatch(
    /^a word\t{8}and more$/,
  );
  expect(stateText('\n'.repeat(131_000))).toBe('\n'.repeat(8));
});

test('of what has no words no more is read than words could have', () => {
  expect(stateText('a'.repeat(40_000))).toBe('a'.repeat(32_768));
  expect(stateText('😀'.repeat(40_000))).toBe('😀'.repeat(32_768));
});

const noul = (instructions: string): TypedQuestion => ({ type: 'noul', instructions, options: [] });
const among = (instructions: string, ...names: readonly string[]): TypedQuestion => ({
  type: 'choice',
  instructions,
  options: names.map((name) => ({ name })),
});

test('halves of characters are read as the sign for what cannot be read', () => {
  expect(stateText({ a: 'b\ud800c' })).toBe('a: b\ufffdc');
  expect(rowTexts(noul('b\ud800c'))).toEqual(rowTexts(noul('b\ufffdc')));
});

describe('a question is read whole, or not at all', () => {
  const sizesOf = (question: TypedQuestion): readonly (readonly number[])[] =>
    (rowsOf([question], '', READER)[0] ?? []).map(({ stretches }) => stretches.map(({ length }) => length));
  const faultOf = (...questions: readonly TypedQuestion[]): unknown => {
    try {
      rowsOf(questions, '', READER);
      return undefined;
    } catch (thrown) {
      return thrown instanceof TooLong ? (thrown.question ?? 'all') : thrown;
    }
  };

  test('in stretches, where it is long', () => {
    expect(sizesOf(noul('word '.repeat(254)))).toEqual([[256]]);
    expect(sizesOf(noul('word '.repeat(255)))).toEqual([[256, 3]]);
    const [stretches = []] = (rowsOf([noul(`${'word '.repeat(300)}end`)], '', READER)[0] ?? []).map(
      (row) => row.stretches,
    );
    const read = stretches.flatMap((ids) => ids.slice(1, -1));
    expect(read).toEqual(tokenizer.pieces(`${'word '.repeat(300)}end`));
  });

  test('and refused by number where it is longer than that', () => {
    expect(faultOf(noul('word '.repeat(1016)))).toBeUndefined();
    expect(faultOf(noul('a'), noul('word '.repeat(1017)))).toBe(1);
    expect(faultOf(among('a', 'b', 'word '.repeat(1016)))).toBeUndefined();
    expect(faultOf(noul('a'), noul('b'), among('a', 'b', 'word '.repeat(1017)))).toBe(2);
    expect(faultOf(among('語'.repeat(1016), 'b', 'c'))).toBeUndefined();
    expect(faultOf(among('語'.repeat(1017), 'b', 'c'))).toBe(0);
  });

  test('and so are all of them together', () => {
    const each = noul('word '.repeat(198));
    expect(faultOf(...Array.from({ length: 16 }, () => each))).toBeUndefined();
    expect(faultOf(...Array.from({ length: 15 }, () => each), noul('word '.repeat(199)))).toBe('all');
    expect(sizeOf([[1, 2], [3]])).toBe(3);
  });
});
