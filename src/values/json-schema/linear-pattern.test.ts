import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LinearPattern } from './linear-pattern.ts';
import { PatternFault } from './parse-pattern.ts';
import { TooMuchWork, Work } from './work.ts';

const LETTERS = fc.constantFrom('a', 'b', '1', '-', ' ', '\n', 'é', '😀', '_', '\ud83d');
const ATOMS = fc.constantFrom(
  ...['a', 'b', '.', '\\d', '\\w', '\\S', '[ab]', '[^a]', '[a-z1]', '\\u{1F600}', '\\ud83d\\ude00', '\\x61', '\\p{L}'],
  ...['\\-'.slice(1), '[\\]\\-a]', '\\.', '^', '$', '()', '(?:)'],
);
const { pattern: PATTERN } = fc.letrec<{ pattern: string; term: string }>((tie) => ({
  pattern: fc.array(tie('term'), { maxLength: 4 }).map((terms) => terms.join('')),
  term: fc.oneof(
    { maxDepth: 3 },
    ATOMS,
    fc
      .tuple(fc.oneof(ATOMS, tie('term')), fc.constantFrom('*', '+', '?', '{2}', '{1,}', '{0,2}', '{0}', '*?', '+?'))
      .map(([term, times]) => `(?:${term})${times}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(${one}|${other})`),
    fc.tuple(tie('pattern')).map(([one]) => `(?<name>${one})`),
  ),
}));

test('it matches what the engine of the language matches', () => {
  fc.assert(
    fc.property(PATTERN, fc.array(LETTERS, { maxLength: 8 }), (source, letters) => {
      fc.pre(source.length <= 256);
      let native: RegExp;
      try {
        native = new RegExp(source, 'u');
      } catch {
        return;
      }
      const text = letters.join('');
      expect(new LinearPattern(source).test(text, new Work(1e6))).toBe(native.test(text));
    }),
    { numRuns: 3000 },
  );
});

test.each(['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(?:a?){30}a{30}$', '(.*)*x', '^(?:(?:a*)*)*$'])(
  '%s: a text of evil takes steps in proportion to its length',
  (source) => {
    const pattern = new LinearPattern(source);
    const stepsOf = (length: number): number => {
      let [low, high] = [1, 1e7];
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        try {
          pattern.test(`${'a'.repeat(length)}!`, new Work(middle));
          high = middle;
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(TooMuchWork);
          low = middle + 1;
        }
      }
      return low;
    };
    expect(stepsOf(400)).toBeLessThan(stepsOf(200) * 2.1);
  },
);

test.each([
  ['(', 'must be a regular expression (ECMAScript, flag u)'],
  ['a'.repeat(257), 'must have at most 256 characters'],
  ...['(?=a)', '(?!a)', '(?<=a)', '(?<!a)', '(a)\\1', '(?<n>a)\\k<n>', '\\ba', '(?i:a)'].map((source) => [
    source,
    'must have no look-arounds, backreferences, word boundaries or modifiers',
  ]),
  ...['a{1001}', '(?:a{100}){11}', '(?:){1000000000}', 'a{0,1000000000}', '((((a+)+){9}){9}){99}'].map((source) => [
    source,
    'is too large: repetitions and all must come to at most 1000 characters',
  ]),
])('%s is refused', (source, message) => {
  expect(() => new LinearPattern(source)).toThrow(new PatternFault(message));
});
