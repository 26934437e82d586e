import { expect, test } from 'vitest';
import { createDecodedScanner } from './decoded-scanner.ts';
import { decodedText } from './decoded-view.ts';
import { createTermFinder } from '../terms/term-finder.ts';

const find = createTermFinder([
  { term: 'Jürgen Müller', label: 'person' },
  { term: 'Ada Lovelace', label: 'person' },
]);
const foundIn = (text: string): readonly string[] => [
  ...new Set((find?.(text) ?? []).map(({ start, end }) => text.slice(start, end))),
];

test.each([
  ['escapes of JSON', String.raw`{"a":"J\u00fcrgen M\u00FCller"}`, String.raw`J\u00fcrgen M\u00FCller`],
  ['a new line in JSON', String.raw`"Ada\nLovelace"`, String.raw`Ada\nLovelace`],
  ['JSON in JSON', String.raw`"{\"a\":\"J\\u00fcrgen M\\u00fcller\"}"`, String.raw`J\\u00fcrgen M\\u00fcller`],
  ['an address', 'https://x/?n=J%C3%BCrgen%20M%C3%BCller&a=1', 'J%C3%BCrgen%20M%C3%BCller'],
  ['an address of Latin letters', 'x?n=J%FCrgen+M%fcller', 'J%FCrgen+M%fcller'],
  ['an address in an address', 'https://x/?u=%3Fn%3DAda%2520Lovelace', 'Ada%2520Lovelace'],
  ['entities', 'J&uuml;rgen&nbsp;M&#xfc;l&#108;er', 'J&uuml;rgen&nbsp;M&#xfc;l&#108;er'],
  ['a link', 'by [Jürgen](http://x/a_(b)) Müller.', 'Jürgen](http://x/a_(b)) Müller'],
  ['a line of Markdown', 'Jürgen\\\nMüller', 'Jürgen\\\nMüller'],
  ['a line of HTML', 'Jürgen<br />Müller', 'Jürgen<br />Müller'],
  ['bold letters', 'A**da** Love<b class="x">lace</b>', 'A**da** Love<b class="x">lace'],
  ['letters apart', 'Dear A D A   L O V E L A C E, hello', 'A D A   L O V E L A C E'],
  ['letters as far apart as words', 'A D A L O V E L A C E', 'A D A L O V E L A C E'],
  ['letters apart with an accent of their own', 'J u\u0308 r g e n  M ü l l e r', 'J u\u0308 r g e n  M ü l l e r'],
])('a term is found in %s', (_, text, written) => {
  expect(foundIn(text)).toEqual([written]);
});

test.each([
  'A B C D',
  'Ad a Love lace',
  'x*y, a_b_c <ada> [1](2)',
  String.raw`C:\new\users`,
  '100%25 %zz &nosuch; \\',
  '',
])('nothing is found in %j', (text) => {
  expect(foundIn(text)).toEqual([]);
});

test('a path that looks escaped is read as it is written, too', () => {
  const nora = createTermFinder([{ term: 'nora', label: 'p' }]);
  const text = String.raw`C:\users\nora`;
  expect(nora?.(text).map(({ start }) => start)).toEqual([text.length - 4]);
});

test('what is called by is as it reads', () => {
  expect(decodedText('ada%40lovelace.example')).toBe('ada@lovelace.example');
  expect(decodedText('A D A   L O V E')).toBe('ADA LOVE');
  expect(decodedText('Ada')).toBe('Ada');
});

test('time grows with the length of a text, whatever it says', () => {
  for (const piece of ['<', '[', '](', '%', '\\', '<!--', 'a=', 'a b ', '*', '&', '<a ', '](('])
    expect(foundIn(piece.repeat(100_000))).toEqual([]);
});

test('accents and blanks without an end are run over once', () => {
  const detection = createDecodedScanner();
  for (const run of ['\u0300', '\t', ' ', ' \u0300']) {
    const text = `1\n2 a${run.repeat(100_000)}b`;
    const before = performance.now();
    expect(foundIn(text)).toEqual([]);
    expect(detection.find(text)).toEqual([]);
    // A search from each of them on takes half a minute.
    expect(performance.now() - before).toBeLessThan(2_000);
  }
});

test('a line ends with its blanks, and the next one begins behind its own', () => {
  const card = '4111 1111 \t\r\n \n> 1111 1111';
  const found = createDecodedScanner().find(card);
  expect(found.map(({ start, end }) => card.slice(start, end))).toEqual([]);
  const broken = 'card 4111 1111 \t\r\n > 1111 1111.';
  const [span] = createDecodedScanner().find(broken);
  expect(broken.slice(span?.start, span?.end)).toBe('4111 1111 \t\r\n > 1111 1111');
});

test('more finds than a call takes arguments are found', () => {
  const finder = createTermFinder([{ term: 'Ada', label: 'person' }]);
  expect(finder?.('A D A   '.repeat(150_000)).length).toBe(150_000);
});
