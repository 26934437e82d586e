import { expect, test } from 'vitest';
import { createDecodedScanner } from './decoded-scanner.ts';
import { AT_WORDS, DOT_WORDS } from './spelled-addresses.ts';
import { suspiciousRangesIn } from './suspicious-ranges.ts';

const detection = createDecodedScanner();
const foundIn = (text: string): readonly string[] =>
  detection.find(text).map(({ start, end, category }) => `${category} ${text.slice(start, end)}`);

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');

test.each([
  ['the end of a line', 'EMAIL', 'ada@\ncorp.de'],
  ['the end of a line', 'IBAN', 'DE89 3704 0044\n0532 0130 00'],
  ['the end of a quoted line', 'CREDIT_CARD', '4111 1111\r\n> 1111 1111'],
  ['an escaped end of a line', 'CREDIT_CARD', String.raw`4111 1111\n1111 1111`],
  ['an escape of an address', 'EMAIL', 'ada%40corp.de'],
  ['an escape of JSON', 'EMAIL', String.raw`ada\u0040corp.de`],
  ['an escape within an escape', 'EMAIL', String.raw`ada\\u0040corp.de`],
  ['an escape of a byte', 'EMAIL', String.raw`ada\x40corp.de`],
  ['an entity', 'EMAIL', 'ada&#64;corp.de'],
  ['an entity by its name', 'EMAIL', 'ada&commat;corp&period;de'],
  ['quoted-printable', 'EMAIL', 'ada=40corp.de'],
  ['a soft end of a line', 'EMAIL', 'ada.love=\r\nlace@corp.de'],
  ['bold digits', 'IBAN', 'DE89 37<b>04</b> 0044 0532 0130 00'],
  ['bold digits of Markdown', 'CREDIT_CARD', '4111 1**111** 1111 1111'],
  ['two blanks', 'IBAN', 'DE89  3704  0044  0532  0130  00'],
  ['tabs', 'CREDIT_CARD', '4111\t1111\t1111\t1111'],
  ['underscores', 'CREDIT_CARD', '4111_1111_1111_1111'],
  ['commas', 'CREDIT_CARD', '4111,1111,1111,1111'],
  ['bars', 'IBAN', 'DE89|3704|0044|0532|0130|00'],
  ['a sign set apart', 'EMAIL', 'ada @ corp.de'],
  ['a sign in brackets', 'EMAIL', 'ada [at] corp [dot] de'],
  ['a sign in parentheses', 'EMAIL', 'ada(at)corp.de'],
  ['words for signs', 'EMAIL', 'ada at corp dot de'],
  ['raised digits', 'CREDIT_CARD', '⁴¹¹¹ ¹¹¹¹ ¹¹¹¹ ¹¹¹¹'],
  ['circled digits', 'CREDIT_CARD', '④①①① ①①①① ①①①① ①①①①'],
  ['keycaps', 'CREDIT_CARD', '4111111111111111'.replace(/\d/g, '$&\ufe0f\u20e3')],
  [
    'segmented digits',
    'CREDIT_CARD',
    '4111111111111111'.replace(/\d/g, (digit) => String.fromCodePoint(0x1fbf0 + Number(digit))),
  ],
  ['mathematical letters', 'EMAIL', '𝐚𝐝𝐚@𝐜𝐨𝐫𝐩.𝐝𝐞'],
  ['fullwidth letters', 'EMAIL', 'ａｄａ＠ｃｏｒｐ．ｄｅ'],
  ['circled letters', 'EMAIL', 'ⓐⓓⓐ@ⓒⓞⓡⓟ.ⓓⓔ'],
  ['marks that combine', 'EMAIL', Array.from('ada@corp.de').join('\u0336')],
  ['NUL between letters', 'EMAIL', Array.from('ada@corp.de').join('\u0000')],
  ['zero-width characters', 'IBAN', Array.from('DE89370400440532013000').join('\u200b')],
  ['tags', 'EMAIL', Array.from('ada@corp.de', (sign) => String.fromCodePoint(0xe0000 + sign.charCodeAt(0))).join('')],
  ['an ideographic stop', 'EMAIL', 'ada@corp。de'],
  ['base64', 'EMAIL', base64('ada@corp.de, you know')],
  ['base64 of an address', 'EMAIL', Buffer.from('ada.lovelace@corp.de').toString('base64url')],
  ['base64 within base64', 'IBAN', base64(base64('DE89 3704 0044 0532 0130 00'))],
  ['base64 in lines', 'EMAIL', base64(`${'a line of a mail, '.repeat(6)}ada@corp.de`).replace(/.{76}/g, '$&\r\n')],
  ['hexadecimal digits', 'EMAIL', hex('ada@corp.de')],
  ['pairs of hexadecimal digits', 'IBAN', hex('DE89370400440532013000').replace(/..(?=.)/g, '$& ')],
])('what hides behind %s is found where it is written: %s', (_, category, written) => {
  expect(foundIn(`Remember this: ${written} and thanks.`)).toEqual([`${category} ${written}`]);
});

test.each([
  ['IBANDE89370400440532013000', 'IBAN DE89370400440532013000'],
  ['KontoDE89 3704 0044 0532 0130 00', 'IBAN DE89 3704 0044 0532 0130 00'],
  ['card4111111111111111', 'CREDIT_CARD 4111111111111111'],
  ['x4111111111111111x', 'CREDIT_CARD 4111111111111111'],
  ['tel:+4930901820x', 'PHONE +4930901820'],
])('a number that touches words is found: %s', (text, found) => {
  expect(foundIn(`Remember ${text}, thanks.`)).toEqual([found]);
});

test('what is found in broken JSON is replaced where it is written', () => {
  expect(foundIn(String.raw`{"to": "ada\u0040corp.de", "text": `)).toEqual([String.raw`EMAIL ada\u0040corp.de`]);
});

test.each([
  'In 2021, 2022, 2023 and 2024 it was 1,234,567 | 2,345,678 | 3,456,789.',
  '4111,1111,1111,1111,1111,1111',
  '| 4532 | 1123 |\n| 4111 | 1111 |\n| 1111 | 1111 |',
  'Meet at the dot of noon; look at this point of view (at least) @ noon.',
  'import x from "@scope/pkg"; @app.route("/a") def f(a, b): return a @ b.T + q @ k.to(device)',
  'x² + y² = 10², see note³; H₂O at 20 ℃ ①②③',
  '550e8400-e29b-41d4-a716-446655440000 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo= aVeryLongIdentifierOfAProgramThatIsNoText',
  'a=40 b=3D ip=25 100%ad 50%20 &amp; &nbsp; C:\\users\\nora \\d{4}-\\d{4}',
  'req1234567890123456 msg_0123456789abcdef chatcmpl-123456789012',
])('nothing is found in %j', (text) => {
  expect(foundIn(text)).toEqual([]);
});

test('an address in words is suspected by any of them', () => {
  for (const at of AT_WORDS.split('|')) {
    for (const dot of DOT_WORDS.split('|')) {
      const text = `First of all write to ada ${at.toUpperCase()} corp ${dot} de about it.`;
      expect(suspiciousRangesIn(text), text).not.toEqual([]);
      expect(suspiciousRangesIn(text.replace('corp', 'corp '.repeat(2))), text).toEqual([]);
    }
  }
  const both = 'ada at corp dot de, then ada at corp dot dot de, at dot dot dot';
  expect(suspiciousRangesIn(both)).toEqual([{ start: 0, end: both.length }]);
});

test('prose is not read again', () => {
  const prose =
    'On 24 May 2024 we met at 10:30, he said (at last): 15 % of 1,200 people write to info@x.de.\nNext line, 3 more.\n';
  expect(suspiciousRangesIn(prose.repeat(20))).toEqual([]);
});

test('what lies at the edge of a stretch that is read again is no part of something else', () => {
  const long = `${'1234 '.repeat(60)}4111 1111\n1111 1111 ${'5678 '.repeat(60)}`;
  expect(foundIn(long).filter((found) => found.startsWith('IBAN'))).toEqual([]);
  const far = `${'word '.repeat(500)}ada%40corp.de${' word'.repeat(500)}`;
  expect(foundIn(far)).toEqual(['EMAIL ada%40corp.de']);
});

test('time grows with the length of a text, whatever it hides', () => {
  const pieces = [
    '1\n',
    '1111,',
    '1111 | ',
    'a @ ',
    '@ ',
    ' dot ',
    'a at b dot ',
    '=4',
    '=\n',
    '\\u0040',
    'QUFB',
    '41 ',
    '4141',
  ];
  for (const piece of [
    ...pieces,
    '1**',
    '²',
    'a\u0301',
    '\0',
    '@a。',
    '1  ',
    'a1',
    '+49',
    'YWRhQGNvcnAuZGU\n',
    '<b>',
    '/',
    '(at',
  ]) {
    const before = performance.now();
    detection.find(piece.repeat(Math.ceil(40_000 / piece.length)));
    expect(performance.now() - before, piece).toBeLessThan(10_000);
  }
});
