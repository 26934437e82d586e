import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openTokenizer } from './tokenizer.ts';
import { rowsOf, stateText, windowsOf, type TypedQuestion } from './typed-input.ts';

interface Example {
  readonly state: unknown;
  readonly question: TypedQuestion;
  readonly windows: readonly (readonly number[])[];
  readonly rows: readonly { readonly ids: readonly number[]; readonly features: readonly number[] }[];
}

const fileAt = (path: string): Buffer => readFileSync(new URL(path, import.meta.url));
const examples = JSON.parse(fileAt('./typed-examples.json').toString('utf8')) as readonly Example[];
const { pieces } = openTokenizer(fileAt('../models/router/tokenizer.json'));

describe('states and questions become the numbers that the model was trained on', () => {
  test.each(examples.map((example, index) => [index, example] as const))('example %i', (_index, example) => {
    const text = stateText(example.state);
    expect(windowsOf(text, pieces)).toEqual(example.windows);
    const rows = rowsOf(example.question, text, pieces);
    expect(rows.map(({ ids }) => ids)).toEqual(example.rows.map(({ ids }) => ids));
    const features = rows.flatMap((row) => row.features);
    const wanted = example.rows.flatMap((row) => row.features);
    expect(features).toHaveLength(wanted.length);
    for (const [at, value] of features.entries()) expect(value).toBeCloseTo(wanted[at] ?? Number.NaN, 5);
  });

  test('of no more than the graph takes', () => {
    expect(Math.max(...examples.map(({ windows }) => windows.length))).toBe(10);
    expect(Math.max(...examples.flatMap(({ windows }) => windows.map(({ length }) => length)))).toBe(128);
    expect(Math.max(...examples.flatMap(({ rows }) => rows.map(({ ids }) => ids.length)))).toBe(256);
  });
});

test('384 words of a state are read', () => {
  const words = Array.from({ length: 400 }, (_, index) => `w${index}`);
  expect(stateText(words.join(' '))).toBe(`${words.slice(0, 384).join(' ')} `);
  expect(stateText(words)).toBe(`${words.slice(0, 384).join('\n')}\n`);
  expect(stateText(words.slice(0, 384).join('  '))).toBe(words.slice(0, 384).join('  '));
});

test('halves of characters are read as the sign for what cannot be read', () => {
  expect(stateText({ a: 'b\ud800c' })).toBe('a: b\ufffdc');
  const question = (instructions: string): TypedQuestion => ({ type: 'noul', instructions, options: [] });
  expect(rowsOf(question('b\ud800c'), '', pieces)).toEqual(rowsOf(question('b\ufffdc'), '', pieces));
});
