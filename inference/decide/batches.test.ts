import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { batchesOf, runsOf } from './batches.ts';
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
  const all = runsOf([[10], [10, 5, 5, 5], [512, 256, 256, 200, 56, 56], [1016, 300, 300]], 1300);
  expect(all).toEqual([
    [[]],
    [[0, 1, 2]],
    [
      [0, 1],
      [2, 3, 4],
    ],
    [[0], [1]],
  ]);
});

test('what would take more than there is room or time for is refused: a question by its number, or all', () => {
  const faultOf = (sizes: readonly (readonly number[])[], state: number): unknown => {
    try {
      runsOf(sizes, state);
      return undefined;
    } catch (thrown) {
      return thrown instanceof TooLong ? (thrown.question ?? 'all') : thrown;
    }
  };
  expect(faultOf([[1000]], 3000)).toBeUndefined();
  expect(faultOf([[10], [1000]], 3001)).toBe(1);
  expect(faultOf([[10], [900, 100, 101]], 3000)).toBe(1);
  const ten = Array.from({ length: 10 }, () => [1000]);
  expect(faultOf(ten, 1400)).toBeUndefined();
  expect(faultOf([...ten, [1]], 1400)).toBe('all');
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
    [3, 1010, 0, 0],
    [1, 1010, 20, 100],
    [1, 1010, 2, 1000],
    [16, 1, 20, 5],
    [16, 40, 20, 5],
    [3, 505, 20, 20],
    [2, 250, 20, 50],
    [1, 505, 20, 128],
    [1, 505, 10, 254],
  ];
  /** Some 4 s of a processor. */
  const WORK = { read: 8000, asked: 9500, pairs: 24_000_000 };

  const sizesOf = (rows: ReturnType<typeof rowsOf>[number]): readonly number[] =>
    rows.map(({ stretches }) => sizeOf(stretches));

  /** Begins with a number, so that no two are alike. */
  function textOf(unit: string, pieces: number, number: number): string {
    const each = Math.max(1, tokenizer.pieces(unit.repeat(20)).length / 20);
    return `${number} ${unit.repeat(Math.max(0, Math.floor((pieces - 3) / each)))}`;
  }

  function admitted(
    unit: string,
    [questions, instructions, options, each]: (typeof SHAPES)[number],
    beside: number,
  ): { readonly rows: ReturnType<typeof rowsOf>; readonly runs: ReturnType<typeof runsOf> } {
    const all: TypedQuestion[] = [];
    for (let number = 0; number < questions; number += 1) {
      const names = Array.from({ length: options }, (_, at) => ({ name: textOf(unit, each, at) }));
      const type = options === 0 ? 'noul' : 'choice';
      all.push({ type, instructions: textOf(unit, instructions, number), options: names });
    }
    for (;;) {
      try {
        const rows = rowsOf(all, '', READER);
        return { rows, runs: runsOf(rows.map(sizesOf), beside) };
      } catch (thrown) {
        if (!(thrown instanceof TooLong)) throw thrown;
        all.pop();
      }
    }
  }

  test.each(Object.entries(SCRIPTS))('is bounded by work, in %s', (_script, unit) => {
    const state = stateText(textOf(unit, 4000, 1));
    const windows = windowsOf(state, READER);
    const beside = sizeOf(windows);
    for (const shape of SHAPES) {
      const { rows, runs } = admitted(unit, shape, beside);
      // Beside a state of very many pieces, what is asked in many runs of hundreds may be too long.
      if (shape[1] + shape[3] < 600) expect(rows.length).toBeGreaterThan(0);
      const texts = [...windows, ...rows.flat().flatMap(({ stretches }) => stretches)];
      const lengths = texts.map(({ length }) => length);
      const read = batchesOf(lengths).reduce((sum, batch) => sum + batch.length * lengths[batch[0]!]!, 0);
      const sizes = rows.flatMap((own, number) => {
        const [question = 0, ...options] = sizesOf(own);
        return runs[number]!.map((run) => run.reduce((sum, at) => sum + options[at]!, question));
      });
      const asked = sizes.reduce((a, b) => a + b, 0);
      const pairs = sizes.reduce((sum, own) => sum + own * (own + beside), 0);
      expect(Math.max(0, ...sizes.map((own) => own * (own + beside)))).toBeLessThanOrEqual(4_000_000);
      expect(read, 'pieces read').toBeLessThanOrEqual(WORK.read);
      expect(asked, 'pieces asked').toBeLessThanOrEqual(WORK.asked);
      expect(pairs, 'pairs of pieces that see each other').toBeLessThanOrEqual(WORK.pairs);
    }
  });
});
