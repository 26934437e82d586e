import { describe, expect, test } from 'vitest';
import type { Match } from '../match.ts';
import { ANY_DIGIT } from './digit-context.ts';
import type { DetectorRule } from './detector.ts';
import { createScanner, scannerOf } from './scanner.ts';

const detection = createScanner();

describe('hostile text', () => {
  const units = [
    'a',
    '1',
    '@',
    '+',
    '0 0 0 ',
    ':',
    '=',
    '-',
    '_',
    '.',
    '"',
    '(',
    'a@',
    'a@b.',
    '@a.',
    '::1 ',
    '1.',
    '1.1.1.1.',
    '4 ',
    '41 ',
    '4111 ',
    '0049 ',
    '+49 ',
    '+1 ',
    'DE89 ',
    'DE89',
    'IBAN',
    'sk-',
    '-sk-',
    'ghp_',
    'eyJ',
    '-eyJ',
    'eyJhbGciOiJIUzI1NiJ9.',
    'token=',
    'token="',
    'password:',
    'password ',
    'Bearer ',
    'AKIA',
    'SG.',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----A',
    'x://a:',
    '://',
    'x://a:b@',
    'tel 0301234 ',
    '030 123 4567 ',
    'https://hooks.slack.com/services/',
    '123456789:',
    '\u200b',
    '1\u200b',
    '٠',
    '谢',
    '😀',
    '\ud800',
    "o'",
    'a=',
    'a+b=',
    '%20',
    '\\n',
    '\\',
    '«',
    '2001:db8:',
    'f:',
    '12:30:',
    '01.02.',
    '(0)',
    '0171/',
    'A',
    'J',
    'w',
    'passw',
    'PESEL 44051401359 ',
    '12 ',
    'AB 12 ',
    'A1 ',
    'born 1.1.1980 ',
    'born 17 June ',
    'Weg 5, ',
    'Straße 1 ',
    'Calle de la ',
    'Calle de 1 ',
    '1 Aa ',
    '1 Aa, ',
    '5 rue de ',
    'Aa-',
    'Aa ',
    'A ',
    '10115 Aa ',
    'plate AA-',
    'AA-1-',
    'P<',
    'P<AAA',
    '<',
    'A<',
    'user=',
    'user: ',
    'user a with pass',
    '//a:',
    '//a:b@',
    'VALUES (1,',
    '(a) values (',
    'sort code 12-34-56 ',
    '12-34-',
    'VIN A1',
    'AAAAAAAAAAAAA1234 ',
    'VIN WVWZZZ1JZXW00000 ',
    '1M8GDM9AXKP042788',
    '61 1090 ',
    'konto 61 1090 1014 0000 0712 1981 2874 ',
    'compte 20041 01005 0500013M026 07 ',
    '539-0075470-',
    '2100 0418 ',
    '12345A',
    'login a1b2 ',
    'user a_b ',
    'ww pw A1! ',
    'pin 4711 ',
    'profil a_bc ',
    'a_bc ',
    'a.b ',
  ];

  test.each(units)('%j: ten times the length is ten times the work', (unit) => {
    const write = (length: number): string => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
    const short = unitsRead(write(2_000));
    const long = unitsRead(write(20_000));
    expect(long / short).toBeLessThan(12);
    expect(long / 20_000).toBeLessThan(170);
  });

  /** How many code units a search reads: one by one, in copies, and by the patterns that run on the text itself. */
  function unitsRead(text: string, search: (text: string) => unknown = (all) => detection.find(all)): number {
    const { charCodeAt, slice, startsWith } = Object.getOwnPropertyDescriptors(String.prototype);
    const { test: matches } = Object.getOwnPropertyDescriptors(RegExp.prototype);
    let read = 0;
    String.prototype.charCodeAt = function (at: number) {
      read += 1;
      return charCodeAt.value!.call(this, at);
    };
    String.prototype.slice = function (from?: number, to?: number) {
      const copy = slice.value!.call(this, from, to);
      read += copy.length;
      return copy;
    };
    String.prototype.startsWith = function (start: string, at?: number) {
      read += start.length;
      return startsWith.value!.call(this, start, at);
    };
    RegExp.prototype.test = function (subject: string) {
      // One with a memory of its place reads from there to the end of its match; the sweep's own is of one character.
      const from = this.sticky || this.global ? this.lastIndex : 0;
      const matched = matches.value!.call(this, subject);
      if (this.sticky) read += 1 + Math.max(0, this.lastIndex - from);
      else read += (matched && this.global ? this.lastIndex : subject.length) - from;
      return matched;
    };
    try {
      search(text);
    } finally {
      Object.defineProperties(String.prototype, { charCodeAt, slice, startsWith });
      Object.defineProperty(RegExp.prototype, 'test', matches);
    }
    return read;
  }

  test('the measure notices work that grows with the square', () => {
    const careless: DetectorRule = {
      category: 'EMAIL',
      evidence: 'shaped',
      triggers: 'a',
      detect: (text, _at, floor) => Math.min(floor, text.slice(0).length),
    };
    const sweep = scannerOf([careless]).find;
    expect(unitsRead('a'.repeat(2_000), sweep) / unitsRead('a'.repeat(200), sweep)).toBeGreaterThan(50);
  });

  test('prose is never looked at twice: a detector is called at its triggers only', () => {
    const calls: number[] = [];
    const spy: DetectorRule = {
      category: 'EMAIL',
      evidence: 'shaped',
      triggers: `@${ANY_DIGIT}`,
      detect: (_text, at, floor, found: Match[]) => {
        calls.push(at);
        if (at !== 4) return floor;
        found.push({ start: 4, end: 9, category: 'EMAIL' });
        return 9;
      },
    };
    const sweep = scannerOf([spy]).find;
    expect(sweep('abc @123@ 4567 8\u00e4 9')).toEqual([{ start: 4, end: 9, category: 'EMAIL' }]);
    expect(calls).toEqual([4, 10, 15, 18]);
    calls.length = 0;
    expect(sweep('no such character')).toEqual([]);
    expect(calls).toEqual([]);
  });
});
