import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { batchesOf, groupsOf } from './batches.ts';
import { NO_GLOSSARY } from './glossary.ts';
import { openTokenizer } from './tokenizer.ts';
import { rowsOf, sizeOf, stateText, TooLong, windowsOf, type TypedLimits, type TypedQuestion } from './typed-input.ts';

const fileAt = (path: string): Buffer => readFileSync(new URL(path, import.meta.url));
const tokenizer = openTokenizer(fileAt('../models/typed/tokenizer.json'));
const { limits } = JSON.parse(fileAt('../models/typed/manifest.json').toString('utf8')) as { limits: TypedLimits };
const READER = { tokenizer, glossary: NO_GLOSSARY, limits };

describe('texts are read in batches of like length', () => {
  const paddedOf = (lengths: readonly number[]): number =>
    batchesOf(lengths).reduce((sum, batch) => sum + batch.length * Math.max(...batch.map((at) => lengths[at]!)), 0);
  const sum = (lengths: readonly number[]): number => lengths.reduce((a, b) => a + b, 0);

  test('each once, in as few as go without waste', () => {
    const lengths = [3, 256, 4, 3, 5, 256, 90];
    const batches = batchesOf(lengths);
    expect(batches.flat().toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(batches).toEqual([[1, 5], [6], [4, 2, 0, 3]]);
    expect(batchesOf([])).toEqual([]);
  });

  test('whatever their lengths: no more than an eighth or a short text fills up', () => {
    let seed = 7;
    const random = (most: number): number => 1 + ((seed = (seed * 48_271) % 2_147_483_647) % most);
    for (let round = 0; round < 200; round += 1) {
      const lengths = Array.from({ length: random(400) }, () => random(round % 2 === 0 ? 256 : 12));
      const batches = batchesOf(lengths);
      expect(paddedOf(lengths)).toBeLessThanOrEqual((8 / 7) * sum(lengths) + 32 * batches.length);
      for (const batch of batches) expect(batch.length * lengths[batch[0]!]!).toBeLessThanOrEqual(1280);
    }
  });
});

test('options are asked about in as many runs as their pieces take, each beside the question', () => {
  expect(groupsOf(10, [])).toEqual([[]]);
  expect(groupsOf(10, [5, 5, 5])).toEqual([[0, 1, 2]]);
  expect(groupsOf(512, [256, 256, 200, 56, 56])).toEqual([
    [0, 1],
    [2, 3, 4],
  ]);
  expect(groupsOf(2000, [1, 1])).toEqual([[0], [1]]);
});

describe('the most that may be asked', () => {
  const SCRIPTS: Readonly<Record<string, string>> = {
    Latin: 'übermäßig ',
    ASCII: 'q!',
    Han: '語',
    Hangul: '각 ',
    Cyrillic: 'щ ',
    Greek: 'ώ.',
    Devanagari: 'क्ष ',
    emoji: '😀 ',
  };
  /** Instructions of so many pieces in each of so many questions, and pieces of each of so many options. */
  const SHAPES: readonly (readonly [questions: number, instructions: number, options: number, each: number])[] = [
    [16, 200, 0, 0],
    [6, 505, 0, 0],
    [16, 1, 20, 5],
    [16, 40, 20, 5],
    [3, 505, 20, 20],
    [2, 250, 20, 50],
    [1, 505, 20, 128],
    [1, 505, 10, 254],
  ];
  /** About 4 s of a slow processor. */
  const WORK = { read: 5000, asked: 5500, pairs: 13_000_000 };

  /** Begins with a number, so that no two are alike. */
  function textOf(unit: string, pieces: number, number: number): string {
    const each = Math.max(1, tokenizer.pieces(unit.repeat(20)).length / 20);
    return `${number} ${unit.repeat(Math.max(0, Math.floor((pieces - 3) / each)))}`;
  }

  function admitted(unit: string, [questions, instructions, options, each]: (typeof SHAPES)[number]) {
    const all: TypedQuestion[] = [];
    for (let number = 0; number < questions; number += 1) {
      const names = Array.from({ length: options }, (_, at) => ({ name: textOf(unit, each, at) }));
      const type = options === 0 ? 'noul' : 'choice';
      all.push({ type, instructions: textOf(unit, instructions, number), options: names });
    }
    for (;;) {
      try {
        return rowsOf(all, '', READER);
      } catch (thrown) {
        if (!(thrown instanceof TooLong) || thrown.question !== undefined) throw thrown;
        all.pop();
      }
    }
  }

  test.each(Object.entries(SCRIPTS))('is bounded by work, in %s', (_script, unit) => {
    const state = stateText(textOf(unit, 4000, 1));
    const windows = windowsOf(state, READER);
    const beside = sizeOf(windows);
    for (const shape of SHAPES) {
      const rows = admitted(unit, shape);
      const texts = [...windows, ...rows.flat().flatMap(({ stretches }) => stretches)];
      const lengths = texts.map(({ length }) => length);
      const read = batchesOf(lengths).reduce((sum, batch) => sum + batch.length * lengths[batch[0]!]!, 0);
      const runs = rows.flatMap(([question, ...options]) => {
        const sizes = options.map(({ stretches }) => sizeOf(stretches));
        const own = sizeOf(question!.stretches);
        return groupsOf(own, sizes).map((group) => group.reduce((sum, at) => sum + sizes[at]!, own));
      });
      const asked = runs.reduce((a, b) => a + b, 0);
      const pairs = runs.reduce((sum, own) => sum + own * (own + beside), 0);
      expect(read, 'pieces read').toBeLessThanOrEqual(WORK.read);
      expect(asked, 'pieces asked').toBeLessThanOrEqual(WORK.asked);
      expect(pairs, 'pairs of pieces that see each other').toBeLessThanOrEqual(WORK.pairs);
    }
  });
});
