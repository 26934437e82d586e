import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fold, isFoldable } from './fold.ts';

const everyCode = Array.from({ length: 0x10000 }, (_, code) => code);
/** Every character of the first plane. */
const characters = everyCode.filter((code) => code < 0xd800 || code > 0xdfff).map((code) => String.fromCharCode(code));

describe('what is folded', () => {
  test('no ASCII character', () => {
    expect(everyCode.slice(0, 128).filter(isFoldable)).toEqual([]);
  });

  test('every invisible character goes, as Unicode lists them', () => {
    const dropped = characters.filter((character) => fold(`a${character}b`).text === 'ab');
    expect(dropped).toEqual(characters.filter((character) => /\p{Default_Ignorable_Code_Point}/u.test(character)));
    for (const point of [0xe0001, 0xe0061, 0xe007f, 0xe0100, 0xe01ef]) {
      expect(fold(`a${String.fromCodePoint(point)}b`).text).toBe('ab');
    }
  });

  test('every decimal digit of every script in the first plane becomes ASCII', () => {
    const digits = characters.filter((character) => /[0-9]/.test(fold(character).text));
    expect(digits).toEqual(characters.filter((character) => /\p{Nd}/u.test(character)));
    expect(fold('٠١٢٣٤٥٦٧٨٩ ०१२ ９８').text).toBe('0123456789 012 98');
    expect(fold('𝟎𝟗 𝟘𝟡 𝟢𝟫 𝟬𝟵 𝟶𝟿 𝐀𝒛').text).toBe('09 09 09 09 09 Az');
  });

  test('full-width forms, spaces, hyphens, dots', () => {
    expect(fold('ａＺ＠．－＿').text).toBe('aZ@.-_');
    expect(fold('a\u00a0b\u202fc\u3000d').text).toBe('a b c d');
    expect(fold('1‐2‑3‒4–5−6').text).toBe('1-2-3-4-5-6');
    expect(fold('a—b').text).toBe('a—b');
  });

  test('nothing else: letters, emoji, lone halves, control characters', () => {
    const kept = 'äß ø ñ ł 你好 한글 ไทย 😀 𠮷 \ud835 \udc00 \udb40x \ud835\ud835 \u0000\u001b\t\n';
    expect(fold(kept).text).toBe(kept);
  });
});

describe('the way back', () => {
  test('a span covers what was dropped inside it and not around it', () => {
    const folded = fold('\u200ba\u00ad\u00adb\u200b𝟏\u200bc');
    expect(folded.text).toBe('ab1c');
    expect(folded.unfold({ start: 0, end: 2, category: 'X' })).toEqual({ start: 1, end: 5, category: 'X' });
    expect(folded.unfold({ start: 2, end: 3, category: 'X' })).toEqual({ start: 6, end: 8, category: 'X' });
    expect(folded.unfold({ start: 0, end: 4, category: 'X' })).toEqual({ start: 1, end: 10, category: 'X' });
  });

  test('of any stretch folds to that stretch', () => {
    const unit = fc.constantFrom(
      'a',
      '1',
      '@',
      '\u200b',
      '\u00ad',
      '𝟏',
      '𝐀',
      '😀',
      '\ud835',
      '\udb40',
      '\udfce',
      '\u{e0061}',
      '９',
      'ä',
      '—',
      '\u00a0',
    );
    const texts = fc.array(unit, { minLength: 1, maxLength: 30 }).map((units) => units.join(''));
    fc.assert(
      fc.property(texts, fc.nat(), fc.nat(), (text, a, b) => {
        const folded = fold(text);
        fc.pre(folded.text.length > 0);
        const start = a % folded.text.length;
        const end = start + 1 + (b % (folded.text.length - start));
        const span = folded.unfold({ start, end, category: 'X' });
        expect(fold(text.slice(span.start, span.end)).text).toBe(folded.text.slice(start, end));
      }),
    );
  });

  test('folding twice changes nothing more', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const once = fold(text).text;
        expect(fold(once).text).toBe(once);
      }),
    );
  });
});
