import { describe, expect, test } from 'vitest';
import { WRITTEN_TEXTS } from '../../test/harness/written-texts.ts';
import type { Line } from '../page/page.ts';
import { languageCodes, LANGUAGES } from './language-data.ts';
import { languageOf, languagesOf } from './written-language.ts';

const box = { x0: 0, y0: 0, x1: 1, y1: 1 };

function block(text: string, number: number, confidence: number): Line {
  return { block: number, box, words: text.split(' ').map((word) => ({ text: word, box, confidence })) };
}

const paragraph = (language: string): string =>
  WRITTEN_TEXTS.find((text) => text.language === language)?.paragraphs[0] ?? '';

describe('the language of a text', () => {
  test.each(WRITTEN_TEXTS.flatMap(({ language, paragraphs }) => paragraphs.map((text) => [language, text] as const)))(
    '%s: %s',
    (language, text) => {
      expect(languageOf(text)).toBe(language);
      // As a recognizer of another language reads it.
      expect(languageOf(text.normalize('NFD').replaceAll(/\p{M}/gu, ''))).toBe(language);
    },
  );

  test.each(['', '4711 0815', 'INVOICE 2231', 'Müller', 'xyzzy plugh frotz', 'a'])('%j does not tell', (text) => {
    expect(languageOf(text)).toBeUndefined();
  });
});

describe('the languages of a page', () => {
  test('one, though a line is in another', () => {
    const lines = [block(paragraph('deu'), 0, 0.95), block(paragraph('deu'), 1, 0.95), block('over the hills', 2, 0.9)];
    expect(languagesOf(lines, ['deu'])).toEqual(['deu']);
  });

  test('a second only where it was not read surely', () => {
    const mixed = (confidence: number): readonly Line[] => [
      block(`${paragraph('eng')} ${paragraph('eng')}`, 0, 0.95),
      block(paragraph('pol'), 1, confidence),
    ];
    expect(languagesOf(mixed(0.8), ['eng'])).toEqual(['eng', 'pol']);
    expect(languagesOf(mixed(0.96), ['eng'])).toEqual(['eng']);
    expect(languagesOf(mixed(0.96), ['eng', 'pol'])).toEqual(['eng', 'pol']);
  });

  test('nothing to tell by', () => {
    expect(languagesOf([], ['eng'])).toBeUndefined();
    expect(languagesOf([block('4711 0815', 0, 1)], ['eng'])).toBeUndefined();
  });
});

describe('names of languages', () => {
  test('either code, in any case, each once', () => {
    expect(languageCodes(['de', 'DEU', 'ger', 'nl', 'pol'])).toEqual(['deu', 'nld', 'pol']);
    for (const code of LANGUAGES) expect(languageCodes([code])).toEqual([code]);
  });

  test.each(['xx', 'osd', 'klingon', '', '__proto__', '../eng'])('%j is refused', (name) => {
    expect(() => languageCodes(['en', name])).toThrow(expect.objectContaining({ kind: 'unsupported' }));
  });
});
