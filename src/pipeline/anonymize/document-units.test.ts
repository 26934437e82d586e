import { expect, test } from 'vitest';
import { unitsAtMost } from './document-units.ts';

const file = (hex: string, length = 100_000): Uint8Array => Buffer.concat([Buffer.from(hex, 'hex')], length);
const text = (start: string, length = 100_000): Uint8Array => file(Buffer.from(start).toString('hex'), length);

test.each([
  ['a PNG', file('89504e470d0a1a0a'), { unit: 'images', most: 1 }],
  ['a JPEG', file('ffd8ffe0'), { unit: 'images', most: 1 }],
  ['a TIFF', file('49492a00'), { unit: 'images', most: 200 }],
  ['a small TIFF', file('4d4d002a', 200), { unit: 'images', most: 4 }],
  ['a PDF', text(`%PDF-1.7${'stream endstream '.repeat(3)}/Type /Page`), { unit: 'pages', most: 8 }],
  ['a PDF behind blanks', text('\n\n%PDF-1.7'), { unit: 'pages', most: 4 }],
  ['a PDF of many parts', text(`%PDF-1.7${'endstream '.repeat(2000)}`), { unit: 'pages', most: 1000 }],
  ['a workbook', text('PK\u0003\u0004 xl/workbook.xml', 8000), { unit: 'pages', most: 21 }],
  ['a letter', text('PK\u0003\u0004 word/document.xml'), { unit: 'pages', most: 1 }],
  ['text', text('a,b\n1,2'), { unit: 'pages', most: 1 }],
  ['nothing', Buffer.alloc(0), { unit: 'pages', most: 1 }],
])('%s is debited for what it may have', (_name, bytes, expected) => {
  expect(unitsAtMost(bytes)).toEqual(expected);
});
