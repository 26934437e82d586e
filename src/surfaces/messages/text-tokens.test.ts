import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { textTokens } from './text-tokens.ts';

const PROSE = 'Every call is inspected, routed, sealed and metered, whatever surface it came through. ';

test('prose is counted as if it was never cut', async () => {
  const text = PROSE.repeat(200);
  expect(await textTokens([text])).toBe(countTokens(text));
  expect(await textTokens([text, 'and more'])).toBe(countTokens(text) + countTokens('and more'));
  expect(await textTokens([])).toBe(0);
  expect(await textTokens(['', ''])).toBe(0);
});

test('what looks like a control token is text', async () => {
  expect(await textTokens(['<|endoftext|>'])).toBeGreaterThan(1);
});

test('pairs of surrogates are not cut apart', async () => {
  // 😀 is two code units, so cuts at an even distance from an odd beginning would fall inside one.
  const text = `x${'😀'.repeat(1000)}`;
  // Halves of pairs would be counted as replacement characters.
  expect(await textTokens([text])).toBe(countTokens(text));
});

test('a word that never ends is counted about right', async () => {
  const word = 'a'.repeat(4096);
  expect(await textTokens([word])).toBeCloseTo(countTokens(word), -2);
});

test('text beyond the bound counts like the text before it', async () => {
  const unit = 'one two three four five six seven eight nine ten eleven twelve ';
  const whole = unit.repeat(Math.ceil((3 * 1_048_576) / unit.length));
  const expected = (countTokens(unit.repeat(100)) / (100 * unit.length)) * whole.length;
  const tokens = await textTokens([whole, whole]);
  expect(tokens / (2 * expected)).toBeCloseTo(1, 2);
});

test('others get their turn while a long text is counted', async () => {
  let turns = 0;
  const timer = setImmediate(function tick() {
    turns += 1;
    again = setImmediate(tick);
  });
  let again = timer;
  await textTokens([PROSE.repeat(2000)]);
  clearImmediate(again);
  expect(turns).toBeGreaterThan(5);
});
