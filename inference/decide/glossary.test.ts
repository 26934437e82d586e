import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { NO_GLOSSARY, openGlossary, readApart } from './glossary.ts';

interface Example {
  readonly texts: readonly string[];
  readonly said: readonly string[];
  readonly languages: readonly string[];
}

const fileAt = (path: string): Buffer => readFileSync(new URL(path, import.meta.url));
const examples = JSON.parse(fileAt('./glossary-examples.json').toString('utf8')) as readonly Example[];
const checkedIn = openGlossary(fileAt('../models/typed/glossary.txt'));

describe('texts are read in the words that models were trained on', () => {
  test.each(examples.map((example, index) => [index, example] as const))('example %i', (_index, example) => {
    expect(checkedIn.read(example.texts)).toEqual({ texts: example.said, languages: example.languages });
  });

  test('some of which change', () => {
    expect(examples.filter(({ texts, said }) => texts.join() !== said.join()).length).toBeGreaterThan(8);
  });
});

const SMALL = [
  'en\tinvoices\tinvoices',
  'en\ttom\ttom',
  'de\ttom\ttone',
  'de\tfehler\terror',
  'de\tund\tand',
  'de\trechnung\tinvoice',
  'de\tkunde\tcustomer',
  'de\tkündigen\tcancel',
  'de\tdie\tthe',
  'de\tgeld\tmoney',
  'pl\tpieniądze\tmoney',
  'pl\ti\tand',
  'nl\ten\tand',
  'nl\tgeld\tmoney',
].join('\n');

function said(text: string, ...beside: readonly string[]): string {
  return openGlossary(new TextEncoder().encode(`${SMALL}\n`)).read([text, ...beside]).texts[0]!;
}

describe('a word is found', () => {
  test.each([
    ['as it is written, in whatever case', 'RECHNUNG und Geld', 'invoice and money'],
    ['without its accents', 'kundigen und', 'cancel and'],
    ['with another ending', 'Rechnungen und Kunden', 'invoice and customer'],
    ['in a word of several', 'Kundenrechnungen und', 'customer invoice and'],
    ['that says what there is nothing of', 'fehlerlose und kundenloser', 'without error and without customer'],
    ['and nothing else of the text changes', '  Rechnung (12) – und\t"Geld"! ', '  invoice (12) – and\t"money"! '],
  ])('%s', (_how, text, wanted) => {
    expect(said(text)).toBe(wanted);
  });

  test('but not in a word that merely begins alike', () => {
    expect(said('Rechtsanwalt und Geldautomatenlobby')).toBe('Rechtsanwalt and Geldautomatenlobby');
  });

  test('but not where it is an English word, unless it is one of the language too', () => {
    expect(said('invoices and money')).toBe('invoices and money');
    expect(said('customer und Rechnung')).toBe('customer and invoice');
    expect(said('Tom', 'the customer')).toBe('Tom');
    expect(said('tom und kunde')).toBe('tone and customer');
  });
});

describe('the language is that of the stretch', () => {
  test('whose words know it best', () => {
    expect(said('i pieniądze')).toBe('and money');
    expect(said('the money and the invoice: die Rechnung und das Geld')).toBe(
      'the money and the invoice: the invoice and das money',
    );
  });

  test('or that of what is said beside it, where its own words leave it open', () => {
    expect(said('geld', 'rechnung und')).toBe('money');
    expect(said('die', 'rechnung und')).toBe('the');
  });

  test('whatever the order of what is said beside it', () => {
    expect(said('geld', 'rechnung', 'pieniądze')).toBe(said('geld', 'pieniądze', 'rechnung'));
  });
});

test('texts that are told apart stay so', () => {
  const glossary = openGlossary(new TextEncoder().encode(SMALL));
  expect(readApart(glossary, ['was und', 'Rechnung', 'Rechnungen'])).toEqual(['was und', 'Rechnung', 'Rechnungen']);
  expect(readApart(glossary, ['und', 'Rechnung', 'Rechnung'])).toEqual(['and', 'invoice', 'invoice']);
});

test('a glossary of lines that are no entries is refused, and so is one of too many languages', () => {
  const opened = (text: string) => (): unknown => openGlossary(new TextEncoder().encode(text));
  expect(opened('de\tdie\n')).toThrow('not an entry');
  expect(opened('de die the')).toThrow('not an entry');
  expect(opened('abcdefgh'.replaceAll(/./g, (name) => `${name}\tx\ty\n`))).toThrow('more than 7');
  expect(opened('')).not.toThrow();
});

test('without one texts stay as they are', () => {
  expect(NO_GLOSSARY.read(['die Rechnung'])).toEqual({ texts: ['die Rechnung'], languages: [] });
});
