import { describe, expect, test } from 'vitest';
import { AddressTracker, VALUE } from './address-tracker.ts';
import { restorationOf } from '../../../test/harness/restoration.ts';
import { addressAt, hostsIn } from './addresses.ts';
import { TagTable } from '../tags.ts';
import { restoreText } from './restore-text.ts';

test.each([
  ['https://a.example/x', ['a.example']],
  ['https://A.Example.:8443/x', ['a.example']],
  ['https://b.example@a.example/x', ['a.example']],
  ['https:\\\\a.example\\x', ['a.example']],
  ['//a.example/x', ['a.example']],
  ['www.a.example/x', ['www.a.example']],
  ['http://3405803783/x', ['203.0.113.7']],
  ['https://ａ.example/x', ['a.example']],
  ['https%3A%2F%2Fa.example%2Fx', ['a.example']],
  ['https&#58;//a.example/x', ['a.example']],
  ['https://b.example/?to=https%253A%252F%252Fa.example%252F', ['b.example', 'a.example']],
  ['git@a.example:x', ['a.example']],
  ['mailto:ada@a.example?body=x', ['a.example']],
  ['file:///home/ada', ['localhost']],
  ['data:text/html,x', ['?']],
  ['javascript:x', ['?']],
])('%s goes to %j', (address, hosts) => {
  expect([...hostsIn(address)]).toEqual(expect.arrayContaining(hosts));
  expect(addressAt(address)).toBeGreaterThanOrEqual(0);
});

test.each([
  'src/app.config/x',
  'C:/Users/ada',
  'C:\\Users\\ada',
  'e.g./x',
  'IBAN:DE',
  '1/2',
  'a@b',
  'x := y',
  '// note',
])('%s is no address', (text) => {
  expect(addressAt(text, ' ')).toBe(-1);
});

/** Whether the end of a text is within an address, however the text is cut. */
function endsInside(text: string, before?: string): boolean {
  const whole = new AddressTracker(before);
  whole.feed(text);
  const cut = new AddressTracker(before);
  for (const sign of text) cut.feed(sign);
  expect(cut.around()?.text).toBe(whole.around()?.text);
  return whole.around() !== undefined;
}

test('an address is followed alike however its text is cut', () => {
  const pieces = [
    ...[
      'see',
      ' ',
      '  ',
      '\n',
      '\t',
      '\u00a0',
      'é',
      '\u200b',
      '(',
      ')',
      '[',
      ']',
      '](',
      '{',
      '}',
      '"',
      "'",
      '`',
      ',',
      ';',
    ],
    ...[
      'url',
      'url(',
      '<',
      '<base ',
      '>',
      'http',
      '://',
      'https://a.example/',
      'www',
      'WWW.',
      '.',
      '/',
      '//',
      '\\',
      ':',
    ],
    ...['=', '?', '#', '&', '%', '&#58;', 'a@a.example/', 'data:', 'a.example:80/', 'href=//a.example/x'],
  ];
  let state = 20_261_123;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const told = (tracker: AddressTracker): string => {
    const around = tracker.around();
    return around ? JSON.stringify([[...around.hosts], around.text, around.inHost]) : '';
  };
  const differing: string[] = [];
  let inside = 0;
  for (let round = 0; round < 20_000; round++) {
    const before = round % 2 === 0 ? ' ' : VALUE;
    const text = Array.from({ length: 1 + random(14) }, () => pieces[random(pieces.length)]!).join('');
    const [whole, cut] = [new AddressTracker(before), new AddressTracker(before)];
    whole.feed(text);
    // A single character leaves nothing to pass over at once.
    for (const sign of text) cut.feed(sign);
    if (told(cut) !== told(whole)) differing.push(text);
    inside += whole.around() === undefined ? 0 : 1;
  }
  expect(differing).toEqual([]);
  expect(inside).toBeGreaterThan(5000);
});

describe('where an address ends', () => {
  test.each([
    ['https://a.example/x', true],
    ['https://a.example/x ', false],
    ['https://a.example/x<', false],
    ['"https://a.example/x y', true],
    ['"https://a.example/x"', false],
    ['<img src="https://a.example/x\n y', true],
    ['<img src=https://a.example/x>', false],
    ['[a](https://a.example/x)', false],
    ['[a](https://a.example/(x)', true],
    ['[a](<https://a.example/x y', true],
    ['(https://a.example/x)', true],
    ['url(https://a.example/x)', false],
    ['`https://a.example/x`', false],
    ['`https://a.example/x', true],
  ])('%j: %s', (text, inside) => {
    expect(endsInside(text)).toBe(inside);
  });

  test('a value that begins with an address is one to its end', () => {
    expect(endsInside('https://a.example/x "y" <z> ', VALUE)).toBe(true);
    expect(endsInside('see https://a.example/x y', VALUE)).toBe(false);
  });
});

describe('hostile texts take time in proportion to their length, and bounded room', () => {
  const PUMPED = [
    'https://',
    'a.',
    'a.b/',
    '//',
    '\\',
    '%25',
    '&#58;',
    '"',
    '"https://a.example/',
    '(',
    '[](',
    'x@',
    ':',
    '=//a.b/',
    'www.',
  ];

  test.each(PUMPED)('%j', (unit) => {
    const time = (length: number): number => {
      const text = unit.repeat(Math.ceil(length / unit.length));
      const began = performance.now();
      const tracker = new AddressTracker();
      for (let at = 0; at < text.length; at += 512) tracker.feed(text.slice(at, at + 512));
      const found = tracker.around();
      expect((found?.text ?? '').length).toBeLessThanOrEqual(4096);
      return performance.now() - began;
    };
    time(64 * 1024);
    expect(time(512 * 1024)).toBeLessThan(20 * time(128 * 1024) + 200);
    expect(time(1024 * 1024)).toBeLessThan(5000);
  });
});

test('tags without a blank between them are decided in time', () => {
  const tags = new TagTable();
  const tag = tags.tagFor('ada@corp.example', 'EMAIL', 0);
  for (const unit of [`a:${tag}`, `https://evil.example/${tag}`, `a.b/${tag}`, `%2f${tag}`]) {
    const began = performance.now();
    restoreText(unit.repeat(50_000), restorationOf(tags), 'text');
    expect(performance.now() - began).toBeLessThan(10_000);
  }
});
