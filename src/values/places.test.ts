import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commonPlaces, GROUPS, takesIn } from './places.ts';

describe('takesIn', () => {
  test.each([
    [['EU'], 'EU', true],
    [['EU'], 'DE', true],
    [['DE'], 'EU', false],
    [['EU'], 'CH', false],
    [['APAC'], 'JP', true],
    [['JP'], 'APAC', false],
    [['EU', 'US'], 'US', true],
    [[], 'EU', false],
    // Neither a group nor a place: names of our own objects must not pass for either.
    [['constructor'], 'DE', false],
    [['EU'], 'GLOBAL', false],
  ] as const)('%j, %s: %s', (allowed, place, taken) => {
    expect(takesIn(new Set(allowed), place)).toBe(taken);
  });
});

test('what two lists have in common takes in what both take in, and nothing else', () => {
  const places = ['EU', 'APAC', 'GLOBAL', 'US', 'CH', ...GROUPS['EU']!.slice(0, 3), ...GROUPS['APAC']!.slice(0, 3)];
  const list = fc.uniqueArray(fc.constantFrom(...places)).map((codes) => new Set(codes));
  fc.assert(
    fc.property(list, list, fc.constantFrom(...places), (one, other, place) => {
      expect(takesIn(commonPlaces(one, other), place)).toBe(takesIn(one, place) && takesIn(other, place));
    }),
  );
});
