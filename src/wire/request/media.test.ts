import { expect, test } from 'vitest';
import { isBase64, kindOfMedia, mediaTypeOfName, readDataUrl, textOfMedia } from './media.ts';

test.each([
  ['data:image/PNG;base64,AAAA', { mediaType: 'image/png', data: 'AAAA' }],
  ['data:text/plain;charset=utf-8;base64,YQ==', { mediaType: 'text/plain', data: 'YQ==' }],
  ['data:application/pdf;name=a b.pdf;base64,', { mediaType: 'application/pdf', data: '' }],
  ['data:text/plain,a', undefined],
  ['data:;base64,AAAA', undefined],
  ['https://example.org/a.png', undefined],
])('%s', (url, expected) => {
  expect(readDataUrl(url)).toEqual(expected);
});

test('what a name and a type speak of', () => {
  expect(mediaTypeOfName('a.tar.PDF')).toBe('application/pdf');
  expect(mediaTypeOfName('pdf.unknown')).toBeUndefined();
  expect(mediaTypeOfName(undefined)).toBeUndefined();
  expect(mediaTypeOfName('a.constructor')).toBeUndefined();
  expect(['image/png', 'audio/wav', 'application/pdf'].map(kindOfMedia)).toEqual(['image', 'audio', 'document']);
});

test('a text document reads as text, any other does not', () => {
  const part = { type: 'media', kind: 'document', mediaType: 'text/plain', source: { data: 'w6k=' } } as const;
  expect(textOfMedia(part)).toBe('é');
  expect(textOfMedia({ ...part, mediaType: 'application/pdf' })).toBeUndefined();
  expect(textOfMedia({ ...part, source: { url: 'https://example.org' } })).toBeUndefined();
});

test.each(['', 'QUJD', 'QUJD\r\n\tREVG\n', '  QQ==\n', 'a-_/+b', `${'QUJD'.repeat(19)}\n`.repeat(9)])(
  '%j is base64',
  (text) => {
    expect(isBase64(text)).toBe(true);
  },
);

test.each(['QUJD REVG', 'Hans Meier', 'QQ==QQ', 'a.b', 'Łódź'])('%j is not', (text) => {
  expect(isBase64(text)).toBe(false);
});

test.each([' ', '\n', '\n ', '\r\n', 'a\n', '='])('a million of %j is soon told', (unit) => {
  expect(isBase64(`a${unit.repeat(1_000_000)}!`)).toBe(false);
});
