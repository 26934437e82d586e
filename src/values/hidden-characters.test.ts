import { expect, test } from 'vitest';
import { countHidden, showHidden } from './hidden-characters.ts';

test.each([
  ['Finds an order.\n\tBy its number: ü, 日本, 😀', 0],
  ['⚠️ and ❤️ and 1️', 0],
  ['a\u200bb\u2060', 2],
  ['\u202euser\u202c', 2],
  ['tags: \u{e0041}\u{e0042}', 2],
  ['a\ufe0f', 1],
  ['\u001b[2J\u0000\u0085', 3],
  ['\ud800 \ue000 \u2028', 3],
])('%j has %d hidden characters', (text, count) => {
  expect(countHidden(text)).toBe(count);
});

test('hidden characters are shown, and a terminal gets no command', () => {
  expect(showHidden('a\u202eb\u{e0041}\u001b[2J\n⚠️')).toBe('a<U+202E>b<U+E0041><U+001B>[2J<U+000A>⚠<U+FE0F>');
});

test('a long text is counted at once', () => {
  expect(countHidden('\ufe0f'.repeat(1_000_000))).toBe(1_000_000);
});
