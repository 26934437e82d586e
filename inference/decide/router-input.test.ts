import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openTokenizer } from './tokenizer.ts';
import { routerNumbers, type RouterState } from './router-input.ts';

interface Example {
  readonly state: RouterState;
  readonly ids: readonly number[];
  readonly grams: readonly number[];
  readonly features: readonly number[];
}

const fileAt = (path: string): Buffer => readFileSync(new URL(path, import.meta.url));
const examples = JSON.parse(fileAt('./router-examples.json').toString('utf8')) as readonly Example[];
const { pieces } = openTokenizer(fileAt('../models/router/tokenizer.json'));

describe('a prompt becomes the numbers that the router was trained on', () => {
  test.each(examples.map((example, index) => [index, example] as const))('example %i', (_index, example) => {
    const found = routerNumbers(example.state, pieces);
    expect(found.ids).toEqual(example.ids);
    expect(found.grams).toEqual(example.grams);
    expect(found.features.map((value) => Number(value.toFixed(9)))).toEqual(example.features);
  });

  test('of no more than the graph takes', () => {
    expect(Math.max(...examples.map(({ ids }) => ids.length))).toBe(1 + 96 + 24 + 1 + 24 + 1 + 12 + 1 + 8 + 1);
    expect(Math.max(...examples.map(({ grams }) => grams.length))).toBeLessThanOrEqual(512);
  });

  test('also of halves of characters', () => {
    expect(routerNumbers({ request: 'a\ud800b' }, pieces)).toEqual(routerNumbers({ request: 'a\ufffdb' }, pieces));
  });
});
