import { strToU8, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { sniff } from './sniff.ts';

const OOXML = 'application/vnd.openxmlformats-officedocument';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const office = (main: string, more = ''): Uint8Array =>
  zipSync({
    '[Content_Types].xml': strToU8(`<Types><Override PartName="/x" ContentType="${main}"/>${more}</Types>`),
    'x.xml': strToU8('<x/>'),
  });
const said = (type: string): Uint8Array =>
  zipSync({ mimetype: [strToU8(type), { level: 0 }], 'content.xml': strToU8('<x/>') });
const told = (data: Uint8Array, mediaType = 'application/octet-stream', name = ''): unknown => {
  try {
    return sniff({ name, mediaType, bytes: data }).kind;
  } catch (error) {
    return (error as { kind?: string }).kind;
  }
};

test.each([
  ['a PDF', bytes('%PDF-1.7\n'), 'pdf'],
  ['a PDF behind blanks', bytes('\n\n  %PDF-1.7\n'), 'pdf'],
  ['PNG', bytes('\x89PNG\r\n\x1a\n'), 'image'],
  ['JPEG', bytes('\xff\xd8\xff\xe0'), 'image'],
  ['GIF', bytes('GIF89a'), 'image'],
  ['TIFF', bytes('II*\0'), 'image'],
  ['big-endian TIFF', bytes('MM\0*'), 'image'],
  ['WebP', bytes('RIFF\x10\0\0\0WEBPVP8 '), 'image'],
  ['Word', office(`${OOXML}.wordprocessingml.document.main+xml`), 'word'],
  ['a Word template', office(`${OOXML}.wordprocessingml.template.main+xml`), 'word'],
  ['a spreadsheet', office(`${OOXML}.spreadsheetml.sheet.main+xml`), 'spreadsheet'],
  ['slides', office(`${OOXML}.presentationml.presentation.main+xml`), 'presentation'],
  ['a slide show', office(`${OOXML}.presentationml.slideshow.main+xml`), 'presentation'],
  ['an OpenDocument text', said('application/vnd.oasis.opendocument.text'), 'opendocument'],
  ['an OpenDocument template', said('application/vnd.oasis.opendocument.spreadsheet-template'), 'opendocument'],
  ['an OpenDocument formula', said('application/vnd.oasis.opendocument.formula'), 'unsupported'],
  ['a book', said('application/epub+zip'), 'epub'],
  ['Word with macros', office('application/vnd.ms-word.document.macroEnabled.main+xml'), 'active_content'],
  [
    'Word with a macro project',
    office(
      `${OOXML}.wordprocessingml.document.main+xml`,
      '<Default ContentType="application/vnd.ms-office.vbaProject"/>',
    ),
    'active_content',
  ],
  ['a zip of anything', zipSync({ 'a.txt': strToU8('a') }), 'unsupported'],
  ['a zip that is cut', office(`${OOXML}.wordprocessingml.document.main+xml`).subarray(0, 60), 'unreadable'],
  ['old Office', bytes('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and more'), 'unsupported'],
  [
    'Office with a password',
    Buffer.concat([bytes('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), Buffer.from('EncryptedPackage', 'utf16le')]),
    'encrypted',
  ],
  ['HEIC', bytes('\0\0\0\x18ftypheic\0\0\0\0'), 'unsupported'],
  ['RTF', bytes('{\\rtf1 hello}'), 'rtf'],
  ['RTF behind blanks', bytes('\n {\\rtf1 hello}'), 'rtf'],
  ['SVG', bytes('<?xml version="1.0"?><!-- x --><svg xmlns="x"/>'), 'unsupported'],
  ['XML', bytes('<?xml version="1.0"?><a/>'), 'unsupported'],
  ['XML with names of its own for letters', bytes('<!DOCTYPE a [<!ENTITY j "Ju">]><a>&j;</a>'), 'unsupported'],
  [
    'mail in an encoding of its own',
    bytes('From: a\r\nSubject: x\r\nContent-Transfer-Encoding: base64\r\n\r\nQWRh'),
    'mail',
  ],
  ['mail with an encoded header', bytes('From: =?utf-8?B?QWRh?=\nTo: b\n\nHello'), 'mail'],
  ['a mailbox', bytes('From a Mon\nFrom: =?utf-8?B?QWRh?=\nTo: b\n\nHello'), 'unsupported'],
  [
    'a card in an encoding of its own',
    bytes('BEGIN:VCARD\nN;ENCODING=QUOTED-PRINTABLE:=41=64=61\nEND:VCARD'),
    'unsupported',
  ],
  ['mail as it is read', bytes('From: Ada\nSubject: x\n\nHello'), 'text'],
  ['a program', bytes('\x7fELF\x02\x01\0\0'), 'unsupported'],
  ['nothing', bytes(''), 'unreadable'],
  ['text', bytes('Hello\r\nworld\t\u00e9'), 'text'],
  ['UTF-16', Buffer.from('\ufeffHello', 'utf16le'), 'text'],
  ['text with a NUL', bytes('Hello\0'), 'unsupported'],
  ['text with a PDF in it', bytes('Dear all,\n%PDF-1.7\n'), 'unreadable'],
])('%s', (_name, data, kind) => {
  expect(told(data)).toBe(kind);
});

test('mail is told by its name and its type, too', () => {
  expect(told(bytes('Hello'), 'message/rfc822')).toBe('unsupported');
  expect(told(bytes('Hello'), 'text/plain', 'a.eml')).toBe('unsupported');
  expect(told(bytes('From: a\n\nHello'), 'text/plain', 'a.eml')).toBe('mail');
  expect(told(bytes('From: a\n\nHello'), 'message/rfc822')).toBe('mail');
});

test('what is declared does not count against the bytes', () => {
  expect(told(bytes('%PDF-1.7'), 'image/png', 'cat.png')).toBe('pdf');
  expect(told(bytes('\x89PNG\r\n\x1a\n%PDF-1.7'), 'application/pdf', 'a.pdf')).toBe('image');
  expect(told(bytes('plain'), 'application/pdf', 'a.pdf')).toBe('text');
  expect(told(bytes('junk\n%PDF-1.7'), 'application/pdf')).toBe('pdf');
  expect(told(bytes('junk\n%PDF-1.7'), 'text/plain', 'scan.PDF')).toBe('pdf');
});

test('kinds of text are told apart by declaration, then by name; HTML by what it says', () => {
  expect(told(bytes('# Title'), 'text/markdown')).toBe('markdown');
  expect(told(bytes('# Title'), 'text/plain', 'notes.md')).toBe('markdown');
  expect(told(bytes('a;b'), 'application/octet-stream', 'list.CSV')).toBe('csv');
  expect(told(bytes('a\tb'), 'text/tab-separated-values')).toBe('csv');
  expect(told(bytes('<p>x</p>'), 'text/html')).toBe('html');
  expect(told(bytes('\n<!-- x --> <!DOCTYPE html><p>&#74;ohn'), 'text/plain', 'a.txt')).toBe('html');
  expect(told(bytes('<?xml version="1.0"?>\n<html xmlns="x"/>'), 'text/csv')).toBe('html');
});

test('the type that formats are told is that of the bytes', () => {
  const { mediaType } = sniff({ name: 'a.png', mediaType: 'image/png', bytes: bytes('\xff\xd8\xff\xe0') });
  expect(mediaType).toBe('image/jpeg');
});

test('a huge comment or many blanks at the head take no time', () => {
  const began = performance.now();
  for (const text of [
    `<!--${' '.repeat(2e6)}`,
    ' '.repeat(2e6),
    '<!-- -->'.repeat(200_000),
    `<?xml ${'x'.repeat(2e6)}`,
  ])
    told(bytes(text));
  expect(performance.now() - began).toBeLessThan(5000);
});
