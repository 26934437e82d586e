import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openGlossary } from './glossary.ts';
import { openTokenizer } from './tokenizer.ts';
import { mostPieces, routerNumbers, type RouterLimits, type RouterState } from './router-input.ts';

interface Example {
  readonly state: RouterState;
  readonly ids: readonly number[];
  readonly grams: readonly number[];
  readonly features: readonly number[];
}

const fileAt = (path: string): Buffer => readFileSync(new URL(path, import.meta.url));
const examples = JSON.parse(fileAt('./router-examples.json').toString('utf8')) as readonly Example[];
const tokenizer = openTokenizer(fileAt('../models/router/tokenizer.json'));
const glossary = openGlossary(fileAt('../models/router/glossary.txt'));
const { limits } = JSON.parse(fileAt('../models/router/manifest.json').toString('utf8')) as { limits: RouterLimits };
const READER = { tokenizer, glossary, limits };

describe('a prompt becomes the numbers that the router was trained on', () => {
  test.each(examples.map((example, index) => [index, example] as const))('example %i', (_index, example) => {
    const found = routerNumbers(example.state, READER);
    expect(found.ids).toEqual(example.ids);
    expect(found.grams).toEqual(example.grams);
    expect(found.features.map((value) => Number(value.toFixed(9)))).toEqual(example.features);
  });

  test('of no more than the graph takes', () => {
    expect(Math.max(...examples.map(({ ids }) => ids.length))).toBe(mostPieces(tokenizer, limits));
    expect(Math.max(...examples.map(({ grams }) => grams.length))).toBeLessThanOrEqual(512);
  });

  test('also of halves of characters', () => {
    const numbersOf = (request: string): object => routerNumbers({ request }, READER);
    expect(numbersOf('a\ud800b')).toEqual(numbersOf('a\ufffdb'));
  });
});
