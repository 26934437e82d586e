import { describe, expect, it } from 'vitest';
import type { Match } from '../match.ts';
import { digitsEnd, isDigit } from './characters.ts';
import { createDetectors } from './list.ts';
import { learnedLogin, learnedSecret } from './learned-login.ts';
import { type DigitContext, digitContextKey, digitContextOf, DIGIT_CONTEXTS } from './digit-context.ts';

describe('digitContextOf', () => {
  it.each<[string, number, DigitContext]>([
    ['a 14 of', 2, { earlier: 'lower', before: 'space', length: 2, next: 'space', later: 'lower' }],
    ['7', 0, { earlier: 'other', before: 'other', length: 1, next: 'other', later: 'other' }],
    ['\\n123456789º.', 2, { earlier: 'backslash', before: 'lower', length: 7, next: 'ordinal', later: 'dot' }],
    ['Ä(12)-', 2, { earlier: 'wide', before: 'bracket', length: 2, next: 'bracket', later: 'hyphen' }],
    ['1+2,/', 2, { earlier: 'digit', before: 'plus', length: 1, next: 'comma', later: 'slash' }],
    ['»2°Z', 1, { earlier: 'other', before: 'other', length: 1, next: 'degree', later: 'capital' }],
  ])('says what stands around the digits in %j', (text, at, expected) => {
    const key = digitContextKey(text, at, digitsEnd(text, at));
    expect(key).toBeLessThan(DIGIT_CONTEXTS);
    expect(digitContextOf(key)).toEqual(expected);
  });
});

/** Pieces of everything that is found, and of what stands between. */
const PIECES =
  'A|DE|xb|n|\\|1|12|031|1980|75008|123456|4111111111111111|.|,|-|/|+|(|)| |  |:|_|º|ª|é|Ä|«|geb. |born |May |th|Tel. |' +
  'plate |passport |sort code |account |Calle Mayor |Hauptstraße |rue de Lyon|Paris|B|\n|93.184|bis ';

describe('a prefilter', () => {
  // For these the context is a part of the rule, and not only a short cut.
  const ruled = new Set(['TAX_ID', 'NATIONAL_ID', 'ADDRESS']);
  const detectors = createDetectors().filter(
    (detector) => !ruled.has(detector.category) && detector !== learnedSecret && detector !== learnedLogin,
  );

  it('refuses nothing that would be found', () => {
    const pieces = PIECES.split('|');
    let seed = 1;
    const next = (limit: number): number => (seed = (seed * 48271) % 2147483647) % limit;
    let finds = 0;
    for (let round = 0; round < 40_000; round += 1) {
      const text = Array.from({ length: 2 + next(9) }, () => pieces[next(pieces.length)]).join('');
      for (let at = 0; at < text.length; at += 1) {
        if (!isDigit(text.charCodeAt(at))) continue;
        const end = digitsEnd(text, at);
        const context = digitContextOf(digitContextKey(text, at, end));
        for (const detector of detectors) {
          if (!detector.triggers.includes(text[at] as string)) continue;
          const found: Match[] = [];
          detector.detect(text, at, 0, found);
          finds += found.length;
          if (found.length > 0 && detector.prefilter?.(context) === false)
            expect.fail(`${detector.category} in ${JSON.stringify(text)} at ${at}`);
        }
        at = end;
      }
    }
    expect(finds).toBeGreaterThan(1000);
  });
});
