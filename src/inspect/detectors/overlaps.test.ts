import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Category } from '#/values/entities.ts';
import type { Match } from '../match.ts';
import type { DetectorRule } from './detector.ts';
import { ranksOf, resolveOverlaps } from './overlaps.ts';

const detector = (category: Category, evidence: DetectorRule['evidence']): DetectorRule => ({
  category,
  evidence,
  triggers: '',
  detect: (_text, _at, floor) => floor,
});
const ranks = ranksOf([
  detector('IBAN', 'checked'),
  detector('CREDIT_CARD', 'checked'),
  detector('SECRET', 'shaped'),
  detector('EMAIL', 'shaped'),
  detector('PHONE', 'weak'),
]);
const span = (category: string, start: number, end: number): Match => ({ category, start, end });
const kept = (...spans: Match[]): string[] =>
  resolveOverlaps(spans, ranks).map(({ category, start, end }) => `${category} ${start}-${end}`);

describe('overlapping finds', () => {
  test.each([
    [
      'none: sorted',
      [span('EMAIL', 9, 12), span('IBAN', 0, 4), span('CREDIT_CARD', 4, 9)],
      ['IBAN 0-4', 'CREDIT_CARD 4-9', 'EMAIL 9-12'],
    ],
    ['the longest wins', [span('EMAIL', 0, 5), span('SECRET', 2, 20)], ['SECRET 2-20']],
    ['also over check digits inside it', [span('CREDIT_CARD', 5, 10), span('SECRET', 0, 30)], ['SECRET 0-30']],
    ['equal: check digits win', [span('SECRET', 0, 9), span('CREDIT_CARD', 0, 9)], ['CREDIT_CARD 0-9']],
    ['equal: the order of the list', [span('EMAIL', 0, 9), span('SECRET', 0, 9)], ['SECRET 0-9']],
    ['equal: the earlier', [span('EMAIL', 3, 9), span('EMAIL', 0, 6)], ['EMAIL 0-6']],
    [
      'weak gives way to checked, however long',
      [span('PHONE', 0, 40), span('CREDIT_CARD', 30, 46)],
      ['CREDIT_CARD 30-46'],
    ],
    ['weak gives way to checked after it', [span('CREDIT_CARD', 0, 16), span('PHONE', 10, 60)], ['CREDIT_CARD 0-16']],
    [
      'weak keeps clear of checked',
      [span('CREDIT_CARD', 0, 16), span('PHONE', 16, 60)],
      ['CREDIT_CARD 0-16', 'PHONE 16-60'],
    ],
    ['weak may beat shaped by length', [span('PHONE', 0, 16), span('EMAIL', 10, 20)], ['PHONE 0-16']],
    [
      'a beaten one frees its place',
      [span('EMAIL', 0, 6), span('SECRET', 5, 15), span('EMAIL', 14, 18)],
      ['SECRET 5-15'],
    ],
    [
      'a chain',
      [span('EMAIL', 0, 10), span('SECRET', 9, 20), span('EMAIL', 19, 30), span('CREDIT_CARD', 29, 40)],
      ['SECRET 9-20', 'CREDIT_CARD 29-40'],
    ],
  ])('%s', (_, spans, expected) => {
    expect(kept(...spans)).toEqual(expected);
    expect(kept(...spans.toReversed())).toEqual(expected);
  });
});

const spans = fc.array(
  fc.tuple(
    fc.constantFrom('IBAN', 'CREDIT_CARD', 'SECRET', 'EMAIL', 'PHONE'),
    fc.nat(60),
    fc.integer({ min: 1, max: 20 }),
  ),
  { maxLength: 25 },
);

test('whatever comes in: sorted, apart, every loser touched by a better one, in any order of input the same', () => {
  fc.assert(
    fc.property(spans, fc.nat(), (input, seed) => {
      const all = input.map(([category, start, length]) => span(category, start, start + length));
      const result = resolveOverlaps(all, ranks);
      for (let index = 1; index < result.length; index += 1) {
        expect(result[index]!.start).toBeGreaterThanOrEqual(result[index - 1]!.end);
      }
      for (const one of all)
        expect(all.some((other) => result.includes(other) && touches(one, other)) || isBeatenWeak(one, all)).toBe(true);
      const shuffled = all.map((one, index) => [(index * 7919 + seed) % 101, one] as const).sort((a, b) => a[0] - b[0]);
      expect(
        resolveOverlaps(
          shuffled.map(([, one]) => one),
          ranks,
        ),
      ).toEqual(result);
    }),
  );
});

function touches(a: Match, b: Match): boolean {
  return a.start < b.end && b.start < a.end;
}

function isBeatenWeak(one: Match, all: readonly Match[]): boolean {
  return one.category === 'PHONE' && all.some((other) => ranks.get(other.category)?.checked && touches(one, other));
}

test('many overlaps cost little more than their number', () => {
  const chain = Array.from({ length: 50_000 }, (_, index) =>
    span(index % 2 === 0 ? 'EMAIL' : 'SECRET', index * 3, index * 3 + 4),
  );
  const result = resolveOverlaps(chain, ranks);
  expect(result.length).toBeGreaterThan(10_000);
  const nested = Array.from({ length: 50_000 }, (_, index) => span('EMAIL', index, 100_000 - index));
  expect(resolveOverlaps(nested, ranks)).toHaveLength(1);
});
