import { describe, expect, test } from 'vitest';
import { createFuzzyTermFinder } from './fuzzy-terms.ts';

const person = (term: string) => ({ term, label: 'person' });

function found(text: string, ...terms: readonly string[]): readonly string[] {
  const spans = createFuzzyTermFinder(terms.map(person))?.(text) ?? [];
  expect(spans.every(({ category }) => category === 'PERSON')).toBe(true);
  return spans.map(({ start, end }) => text.slice(start, end));
}

describe('a term', () => {
  test.each([
    ['do Bożena Śęzogaowszcak Tel. +48', 'Bożena Ślęzogaowszczak', 'Bożena Śęzogaowszcak'],
    ['a Inês Brandâudeergueira, Tel.', 'Inês Brandãudeergueira', 'Inês Brandâudeergueira'],
    ['PARA INÊS BRAN DAUDEERGUEIRA,', 'Inês Brandãudeergueira', 'INÊS BRAN DAUDEERGUEIRA'],
    ['von GrüßabeenrÖder.', 'Grüßabeenröder', 'GrüßabeenrÖder'],
    ['Project Fa1c0n began', 'Falcon', 'Fa1c0n'],
    ['Herr Lovelate schrieb', 'Lovelace', 'Lovelate'],
    ['an AdaLovelace, London', 'Ada Lovelace', 'AdaLovelace'],
    ['DE89 37O4 0O44 0532 0180 00 heute', 'DE89 3704 0044 0532 0130 00', 'DE89 37O4 0O44 0532 0180 00'],
  ])('in %j is found as %j was misread', (text, term, expected) => {
    expect(found(text, term)).toEqual([expected]);
  });

  test.each([
    ['Anna and Anno', 'Anne'],
    ['the lace of love', 'Lovelace'],
    ['Herr Lovelate schrieb', 'Lovegood'],
    ['one or two words of another kind', 'Ada Lovelace'],
    ['', 'Lovelace'],
  ])('is not found in %j for %j', (text, term) => {
    expect(found(text, term)).toEqual([]);
  });

  test('is found wherever it stands, and each time as nearly as it is written', () => {
    const text = 'to Ada Lovelace, and from Ada Lovelate to Ada Lovelace';
    expect(found(text, 'Ada Lovelace').toSorted()).toEqual(['Ada Lovelace', 'Ada Lovelace', 'Ada Lovelate']);
  });
});

test('terms without letters, and none, find nothing', () => {
  expect(createFuzzyTermFinder([])).toBeUndefined();
  expect(createFuzzyTermFinder([person('Ed'), person('«»')])).toBeUndefined();
});

test('a long text and many terms take a time in proportion', () => {
  const text = 'Das Amt hat die Frist bis zum Freitag verlängert und bittet um Geduld. '.repeat(300);
  const terms = Array.from({ length: 100 }, (_, index) => `Grüßabeenröder${index}`);
  expect(found(`${text} an Grüßabeenröder7x`, ...terms).length).toBeGreaterThan(0);
  expect(found('a'.repeat(50_000), ...terms)).toEqual([]);
  expect(found('a '.repeat(20_000), ...terms)).toEqual([]);
});
