import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isHandedInPieces, piecesOf, putTogether } from './text-pieces.ts';

const MI = 1024 * 1024;

test('texts are the same when their pieces are put together', () => {
  const length = fc.constantFrom(0, 1, 2, MI - 1, MI, MI + 1, 3 * MI);
  const texts = fc.array(
    fc.tuple(length, fc.constantFrom('a', 'é', '😀')).map(([most, sign]) => sign.repeat(most).slice(0, most)),
    { maxLength: 6 },
  );
  const check = (all: readonly string[]): void => {
    const found: string[] = [];
    for (const piece of piecesOf(all)) {
      expect(piece.texts.reduce((sum, text) => sum + text.length, 0)).toBeLessThanOrEqual(MI);
      putTogether(found, piece);
    }
    expect(found.length).toBe(all.length);
    expect(found.every((text, at) => text === all[at])).toBe(true);
  };
  fc.assert(fc.property(texts, check), { numRuns: 60 });
});

test('many texts are many pieces', () => {
  const all = Array.from({ length: 10_000 }, (_, at) => String(at));
  const pieces = [...piecesOf(all)];
  expect(pieces.map(({ texts }) => texts.length)).toEqual([4096, 4096, 1808]);
  expect(isHandedInPieces({ kind: 'categories', texts: all }, 40_000)).toBe(true);
  expect(isHandedInPieces({ kind: 'categories', texts: ['x'] }, 1)).toBe(false);
});
