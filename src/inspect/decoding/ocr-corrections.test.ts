import { describe, expect, test } from 'vitest';
import { createDetectionPool } from '../search/detection-pool.ts';
import { correctedReading, misreadAddresses } from './ocr-corrections.ts';

const detection = createDetectionPool({ thresholdChars: 1e6 });

/** What detectors find in the corrected view, as it was read. */
function foundIn(text: string): readonly string[] {
  const corrected = correctedReading(text) ?? text;
  expect(corrected).toHaveLength(text.length);
  return detection.findNow(corrected).map(({ start, end, category }) => `${category} ${text.slice(start, end)}`);
}

describe('the sign of an address that was read', () => {
  test.each([
    ['as a letter', 'E-mail quilez29Ocorreo.example.es, antes', 'quilez29Ocorreo.example.es'],
    ['as another letter', 'lub krzyz19Qpoczta.example.pl teraz', 'krzyz19Qpoczta.example.pl'],
    ['as a bracket and a digit', 'do krzyz24(0poczta.example.pl, przed', 'krzyz24(0poczta.example.pl'],
    ['with a stroke', 'a quilez29/Ocorreo.example.es', 'quilez29/Ocorreo.example.es'],
    ['as a sign', 'to john.doe©acme.com.', 'john.doe©acme.com'],
    ['with a blank before it', 'to john.doe @acme.com now', 'john.doe @acme.com'],
    ['with blanks on both sides', 'to john.doe @ acme.com now', 'john.doe @ acme.com'],
    ['in brackets', 'to john.doe (a) acme.com now', 'john.doe (a) acme.com'],
    ['not at all, behind a word', 'E-Mail: johndoeacme.example.com', 'johndoeacme.example.com'],
    ['well, before a dot that was not', 'an schnaoz60@post,example.de, bitte', 'schnaoz60@post,example.de'],
    ['well, behind a digit that was not', 'à vauco/6@courriel.example.fr, avant', 'vauco/6@courriel.example.fr'],
  ])('%s', (_, text, address) => {
    expect(foundIn(text)).toEqual([`EMAIL ${address}`]);
  });

  test.each([
    'see www.Opera.com or https://Oracle.com/Quest.html for it',
    'Quality is in docs.example.org, and in Oracle.com too',
    'on page 3. Other words follow (OK).',
    'and/or.so',
  ])('is not seen in %j', (text) => {
    expect(foundIn(text).filter((one) => one.startsWith('EMAIL'))).toEqual([]);
  });
});

describe('an address behind the word for mail', () => {
  const addressesIn = (text: string): readonly string[] =>
    misreadAddresses(text).map(({ start, end }) => text.slice(start, end));

  test.each([
    ['E-mail zolcif. szczak5%%Qpoczia.exampie.pl, przed', 'zolcif. szczak5%%Qpoczia.exampie.pl'],
    ['Correo: quilez.2 9(Dcorreo.example.es;', 'quilez.2 9(Dcorreo.example.es'],
    ['Mail schnaoz60~post.example.de', 'schnaoz60~post.example.de'],
  ])('is one though its sign is none and dust parts it: %j', (text, address) => {
    expect(addressesIn(text)).toEqual([address]);
  });

  test.each([
    'by e-mail or at example.com',
    'E-mail, www.example.com',
    'E-mail www.example.com',
    'the mail of Friday. Others came',
    'E-mail\nhttps://example.com',
  ])('is not seen in %j', (text) => {
    expect(addressesIn(text)).toEqual([]);
  });

  test('is found in a time in proportion', () => {
    for (const piece of ['mail ', 'mail a. ', '. ', 'mail a.b', '.bc', 'mail.', ','])
      expect(addressesIn(piece.repeat(40_000)).length).toBeLessThan(80_000);
  });
});

describe('digits', () => {
  test.each([
    ['Tel. +48 22 6l5 84 8S', 'PHONE +48 22 6l5 84 8S'],
    ['Tel. +48 22:611 13 13, przed', 'PHONE +48 22:611 13 13'],
    ['Tel. +34 91 449 37. 36, antes', 'PHONE +34 91 449 37. 36'],
    ['Tel. +34 91 449 ,37 36, antes', 'PHONE +34 91 449 ,37 36'],
    ['Tel. +34 91 449 37 36. 12 casas', 'PHONE +34 91 449 37 36'],
    ['Visa 4S89 3259 334I 2720,', 'CREDIT_CARD 4S89 3259 334I 2720'],
    ['IP 8l.163.149.3B, voor', 'IP_ADDRESS 8l.163.149.3B'],
  ])('that were read as letters are digits: %j', (text, expected) => {
    expect(foundIn(text)).toEqual([expected]);
  });

  test.each(['Ada Lovelace wrote it', 'so Go on', 'IBAN', ''])('are not made of words: %j', (text) => {
    expect(correctedReading(text)).toBeUndefined();
  });
});

test('hostile text takes a time in proportion', () => {
  for (const piece of ['O', 'aO', 'a.', '(a', ' @', '1 ', 'l ', '@a.bc', 'aOb.co', 'posta ', '/'])
    expect(correctedReading(piece.repeat(40_000)) ?? '').toHaveLength(
      correctedReading(piece.repeat(40_000)) === undefined ? 0 : 40_000 * piece.length,
    );
});
