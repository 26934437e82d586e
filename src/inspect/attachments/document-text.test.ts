import { afterAll, describe, expect, test } from 'vitest';
import type { CustomTerm } from '#/config/snapshot.ts';
import { createDetectionPool } from '../search/detection-pool.ts';
import { findInDocument, replaced, type DocumentFindings } from './document-text.ts';

const detection = createDetectionPool({ thresholdChars: 2000 });
afterAll(() => detection.close());

async function find(
  texts: readonly string[],
  terms: readonly CustomTerm[] = [],
  categories?: ReadonlySet<string>,
): Promise<DocumentFindings & { readonly texts: readonly string[] }> {
  const units = texts.map((text, index) => ({ id: `u${index}`, text, visibility: 'shown' as const }));
  const found = await findInDocument(units, { categories, terms }, detection);
  const left = units.map(({ id, text }) => {
    return replaced(
      text,
      found.replacements.filter(({ unit }) => unit === id),
    );
  });
  return { ...found, texts: left };
}

const term = (text: string, label = 'term'): CustomTerm => ({ term: text, label });

describe('a page that was recognized', () => {
  const shown = (text: string, page: number) => ({ id: `p${page}`, text, page, visibility: 'shown' as const });
  const misread =
    'Para INÊS BRAN DÂUDEERGUEIRA, E-mail brandau29Ocorreio.example.pt, IBAN PT88 3138 5076 2015 0119 5528 7.';

  test('has what was misread taken out, also where no letter of it agrees with what it means', async () => {
    const terms = [term('Inês Brandãudeergueira', 'person')];
    const scope = { categories: undefined, terms, recognizedPages: [1] };
    const found = await findInDocument([shown(misread, 0), shown(misread, 1)], scope, detection);
    expect(replaced(misread, of(found, 'p1'))).toBe('Para «PERSON_1», E-mail «EMAIL_1», IBAN «IBAN_1».');
    // Where a page says its text itself, a letter more or less is another word.
    expect(of(found, 'p0').filter(({ tag }) => tag === '«PERSON_1»')).toEqual([]);
    expect(found.originals).toContain('INÊS BRAN DÂUDEERGUEIRA');
  });

  test('has what was found on it, and not on another page, taken out of it where it was misread', async () => {
    const units = [shown('IBAN DE89 3704 0044 0532 0130 00', 0), shown('from DE89 37O4 OO44 O532 O13O OO on', 1)];
    const found = await findInDocument(units, { categories: undefined, terms: [], recognizedPages: [0, 1] }, detection);
    expect(of(found, 'p1')).toHaveLength(1);
  });

  test('is searched for the kinds that are asked for alone', async () => {
    const scope = { categories: new Set(['EMAIL']), terms: [], recognizedPages: [1] };
    const found = await findInDocument([shown(misread, 1)], scope, detection);
    expect(found.replacements.map(({ tag }) => tag)).toEqual(['«EMAIL_1»']);
  });

  const of = ({ replacements }: DocumentFindings, id: string) => replacements.filter(({ unit }) => unit === id);
});

describe('a document', () => {
  test('has one tag for one person, however it is spelled, and each spelling is an original', async () => {
    const found = await find(
      ['Ada Lovelace wrote.', 'By ADA\u00a0LOVELACE', 'ada\n lovelace'],
      [term('Ada Lovelace', 'person')],
    );
    expect(found.texts).toEqual(['«PERSON_1» wrote.', 'By «PERSON_1»', '«PERSON_1»']);
    expect(found.mapping).toEqual([{ token: '«PERSON_1»', original: 'Ada Lovelace' }]);
    expect(found.originals).toEqual(['Ada Lovelace', 'ADA\u00a0LOVELACE', 'ada\n lovelace']);
    expect(found.findings).toEqual({ PERSON: 3 });
  });

  test('has one tag for one person, whatever form the name has, and the name of a family alone behind its title', async () => {
    const found = await find(
      [
        'Herr Grüßmann kam.',
        'GRUESSMANN, KÄTHE',
        'Käthes Grüßmann',
        'Käthe Grüß-\nmann',
        'Von Grüssmann, nicht Frau Groß',
      ],
      [term('Käthe Grüßmann', 'person')],
    );
    expect(found.texts).toEqual([
      'Herr «PERSON_1» kam.',
      '«PERSON_1»',
      '«PERSON_1»',
      '«PERSON_1»',
      'Von «PERSON_1», nicht Frau Groß',
    ]);
    expect(found.mapping).toEqual([{ token: '«PERSON_1»', original: 'Grüßmann' }]);
    expect(found.originals).toContain('Käthe Grüß-\nmann');
  });

  test('loses what a title gives away as whole words only', async () => {
    const found = await find(['Frau Koch ging.', 'Koch. Kochen'], [term('Anna Koch', 'person')]);
    expect(found.texts).toEqual(['Frau «PERSON_1» ging.', '«PERSON_1». Kochen']);
  });

  test('has one tag for an IBAN with and without blanks', async () => {
    const found = await find(['DE89 3704 0044 0532 0130 00', 'IBAN: DE89370400440532013000']);
    expect(found.texts).toEqual(['«IBAN_1»', 'IBAN: «IBAN_1»']);
  });

  test.each([
    ['DE89 3704 0044\r\n0532 0130 00', '«IBAN_1»'],
    ['> DE89 3704\n> 0044 0532\n> 0130 00', '> «IBAN_1»'],
    ['Visa 4138 0034\n8821 0742', 'Visa «CREDIT_CARD_1»'],
  ])('finds a number that goes on in the next line: %j', async (text, left) => {
    const found = await find([`a\n${text}\nb`]);
    expect(found.texts).toEqual([`a\n${left}\nb`]);
  });

  test('loses everywhere what only one place gives away', async () => {
    // Ten digits are a phone number where a word says so, and are the same number where none does.
    const found = await find(['Phone: 030 901820', 'see 030 901820 below']);
    expect(found.texts).toEqual(['Phone: «PHONE_1»', 'see «PHONE_1» below']);
  });

  test('keeps tags that it has already, and gives none of them out again', async () => {
    const found = await find(['«EMAIL_1» and «EMAIL_3»', 'a@example.com b@example.com c@example.com']);
    expect(found.texts).toEqual(['«EMAIL_1» and «EMAIL_3»', '«EMAIL_2» «EMAIL_4» «EMAIL_5»']);
    expect(found.mapping.map(({ original }) => original)).toEqual(['a@example.com', 'b@example.com', 'c@example.com']);
    expect(found.originals).not.toContain('«EMAIL_1»');
  });

  test('loses the kinds that are asked for, and terms in any case', async () => {
    const found = await find(['a@example.com 81.2.69.142 Falcon'], [term('falcon')], new Set(['IP_ADDRESS']));
    expect(found.texts).toEqual(['a@example.com «IP_ADDRESS_1» «TERM_1»']);
    expect(found.findings).toEqual({ IP_ADDRESS: 1, TERM: 1 });
  });

  test('calls a term what the caller calls it, also where a detector finds the same', async () => {
    const found = await find(['a@example.com'], [term('a@example.com', 'contact')]);
    expect(found.texts).toEqual(['«CONTACT_1»']);
  });

  test('is the same whether it is searched here or in a thread', async () => {
    const texts = Array.from({ length: 300 }, (_, index) => `row ${index}: user${index % 7}@example.com`);
    const found = await find(texts);
    expect(found.mapping).toHaveLength(7);
    expect(found.texts[8]).toBe('row 8: «EMAIL_2»');
    expect(found.findings).toEqual({ EMAIL: 300 });
  });

  test('with nothing in it is left alone', async () => {
    expect(await find(['nothing', ''])).toMatchObject({ replacements: [], originals: [], mapping: [], findings: {} });
  });
});

test('a document that cannot be searched is refused', async () => {
  const closed = createDetectionPool({ thresholdChars: 0, triedChars: 0 });
  await closed.close();
  const unit = { id: 'a', text: 'a@example.com', visibility: 'hidden' as const };
  await expect(findInDocument([unit], { categories: undefined, terms: [] }, closed)).rejects.toMatchObject({
    code: 'inspection_unavailable',
  });
});

describe('an address of mail over the end of a paragraph', () => {
  test.each<readonly [string, string]>([
    ['Write to ada@love-', 'lace.example soon'],
    ['Write to ada.love-', 'lace@mail.example soon'],
    ['Write to ada@', 'lovelace.example soon'],
    ['Write to ada@lovelace.', ' example.org soon'],
  ])('has one tag: %j, %j', async (first, second) => {
    const { texts } = await find([first, second]);
    expect(texts).toEqual(['Write to «EMAIL_1»', expect.stringMatching(/^ ?«EMAIL_1» soon$/)]);
  });

  test('is not seen where the next paragraph begins another sentence', async () => {
    const before = ['Write to ada@lovelace.example.', 'Then wait.', 'The end -', 'bob@lovelace.example'];
    const { texts } = await find(before);
    expect(texts).toEqual(['Write to «EMAIL_1».', 'Then wait.', 'The end -', '«EMAIL_2»']);
  });
});

test('what is written with escapes is called by what it reads, and has the tag of that', async () => {
  const found = await find(['ada@lovelace.example', 'x?m=ada%40lovelace.example&n=1'], []);
  expect(found.texts).toEqual(['«EMAIL_1»', 'x?m=«EMAIL_1»&n=1']);
  expect(found.mapping).toEqual([{ token: '«EMAIL_1»', original: 'ada@lovelace.example' }]);
  expect(found.originals).toEqual(['ada@lovelace.example', 'ada%40lovelace.example']);
});
