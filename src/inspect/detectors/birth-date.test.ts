import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { createScanner } from './scanner.ts';

const detection = createScanner();
const only = new Set(['DATE_OF_BIRTH']);
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text, only)).toEqual(spans);
};

describe('dates of birth', () => {
  test.each([
    'born ‹17 June 1980›, date of birth ‹1997-04-23›, DOB: ‹04/23/1997›, born on ‹October 17th, 1957› in Leeds',
    'geboren am ‹08.05.1998›, geb. ‹8. Mai 1998›, Geburtsdatum: ‹8.5.98›',
    'né le ‹1er mars 1951›, date de naissance ‹22/02/1960›',
    'nacida el ‹21/12/1954›, fecha de nacimiento: ‹8 de abril de 1955›',
    'nato il ‹19 marzo 1994›, data di nascita ‹07/01/1957›',
    'geboren op ‹3 juli 1968›, geboortedatum ‹24-10-1957›',
    'ur. ‹3 sierpnia 1978›, data urodzenia ‹17.06.1965›',
    'nascido a ‹1 de abril de 1953›, data de nascimento ‹26/08/1947›',
    'född ‹1960-09-01›, syntynyt ‹15. elokuuta 1947›, nar. ‹20. října 1951›, născut la ‹15 iunie 1956›, født ‹26.11.1989›',
    'am ‹8. Mai 1998› geboren',
    '{"birthDate":"‹1980-11-24›","created":"2024-11-24"}',
    "INSERT INTO users (name, dob, hired) VALUES ('Ada, B.', '‹1980-11-24›', '2020-01-01')",
  ])('%s', (source) => expectFinds(source.replaceAll('‹', '‹DATE_OF_BIRTH:')));
});

describe('other dates', () => {
  test.each([
    'due 12.05.2024, order of 18/11/2024, released on 3 May 2024',
    'the firm was born out of a need, see 3.2.1 and 12.5',
    'born in a town of 40 houses, which burnt down on 3 May 1920',
    'geboren ist die Idee, Rechnung vom 01.02.2024',
    'NATO, 4 April 1949; nacional 12-05-2024',
    "INSERT INTO users (name, dob, hired) VALUES ('Ada', NULL, '2020-01-01')",
    'born 31.12.1980x, born 45.13.1980, born 1980',
  ])('%s', expectFinds);
});
