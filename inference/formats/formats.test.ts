import { strToU8, unzipSync, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import type { DocumentFile, RedactedDocument } from '#ports/documents.ts';
import { officeFile } from '../../test/harness/office.ts';
import { epub } from './epub/epub.ts';
import type { Format, Tools } from './format.ts';
import { mail } from './mail/mail.ts';
import { withoutOpaque } from './mail/opaque.ts';
import { opendocument } from './opendocument/opendocument.ts';
import { presentation } from './presentation/presentation.ts';
import { rtf } from './rtf/rtf.ts';

const tools: Tools = {
  recognize: () => Promise.reject(new Error('not wanted')),
  checkTime: () => {},
  onPages: () => {},
};
const NAME = 'Ada Lovelace';

const fileOf = (bytes: Uint8Array): DocumentFile => ({ name: 'a', mediaType: 'application/x', bytes });

async function shownIn(format: Format, bytes: Uint8Array): Promise<readonly string[]> {
  const { units } = await format.read(fileOf(bytes), { recognize: 'auto' }, tools);
  return units.filter(({ visibility }) => visibility === 'shown').map(({ text }) => text);
}

async function withoutAda(format: Format, bytes: Uint8Array): Promise<RedactedDocument> {
  const { units, layout } = await format.read(fileOf(bytes), { recognize: 'auto' }, tools);
  const replacements = units.flatMap(({ id, text }) =>
    [...text.matchAll(new RegExp(NAME, 'g'))].map(({ index }) => ({
      ...{ unit: id, start: index, end: index + NAME.length, tag: '«PERSON_1»' },
    })),
  );
  return format.redact(fileOf(bytes), { layout, replacements, originals: [NAME] }, tools);
}

const entriesOf = (bytes: Uint8Array): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(unzipSync(bytes)).map(([name, data]) => [name, Buffer.from(data).toString()]));

describe('rich text', () => {
  const rich = (inner: string): Uint8Array => Buffer.from(`{\\rtf1\\ansi\\ansicpg1252 ${inner}}`, 'latin1');

  test.each([
    ['letters by number, with one sign for readers of old', 'J\\u252?rgen', 'Jürgen'],
    ['with two, of which one is a word', "{\\uc2 J\\u252\\'fc?rgen}", 'Jürgen'],
    ['with none', '{\\uc0 J\\u252 rgen}', 'Jürgen'],
    ['beyond the first plane', '\\u-10179?\\u-8704?', '😀'],
    ['bytes of the page', "J\\'fcrgen", 'Jürgen'],
    ['bytes of a font', "{\\fonttbl{\\f1\\fcharset238 X;}}\\f1 \\'a3\\'f3d\\'9f", 'Łódź'],
    ['bytes of two', "{\\fonttbl{\\f1\\fcharset128 X;}}\\f1 \\'83\\'41", 'ア'],
    ['runs', 'J{\\b \\u252?r}gen', 'Jürgen'],
    ['a group that nobody knows within a word', 'J\\u252?r{\\*\\x y}gen', 'Jürgen'],
  ])('reads %s', async (_, inner, text) => {
    expect((await shownIn(rtf, rich(inner)))[0]).toBe(text);
    const { bytes } = await rtf.redact(
      fileOf(rich(inner)),
      {
        ...{ layout: (await rtf.read(fileOf(rich(inner)), { recognize: 'auto' }, tools)).layout },
        ...{ replacements: [], originals: [] },
      },
      tools,
    );
    expect((await shownIn(rtf, bytes))[0]).toBe(text);
  });

  test('leaves out what is not shown, and bytes as they are', async () => {
    const secret = rich(`x{\\v ${NAME}}{\\*\\a ${NAME}}{\\info{\\author ${NAME}}}\\bin6 }{\\b }y {\\b ${NAME}}`);
    const { bytes } = await withoutAda(rtf, secret);
    const text = Buffer.from(bytes).toString();
    expect(text).not.toMatch(/Ada|Lovelace|author|\\v /);
    expect(await shownIn(rtf, bytes)).toEqual(['xy «PERSON_1»']);
  });

  test('letters of DOS are refused', async () => {
    await expect(rtf.read(fileOf(rich('\\pc x')), { recognize: 'auto' }, tools)).rejects.toMatchObject({
      kind: 'unsupported',
    });
  });
});

test('a cell of OpenDocument that had an original has its text alone; another one keeps its number', async () => {
  const ns = ['office', 'table', 'text']
    .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
    .join(' ');
  const cells = `<table:table-cell office:value-type="string" office:string-value="${NAME}" table:formula="of:=A9"><text:p>${NAME}</text:p></table:table-cell><table:table-cell office:value-type="float" office:value="3" table:formula="of:=1+2"><text:p>3</text:p></table:table-cell>`;
  const file = zipSync({
    mimetype: [strToU8('application/vnd.oasis.opendocument.spreadsheet'), { level: 0 }],
    'content.xml': strToU8(
      `<office:document-content ${ns}><office:body><office:spreadsheet><table:table><table:table-row>${cells}</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`,
    ),
  });
  const { bytes } = await withoutAda(opendocument, file);
  const content = entriesOf(bytes)['content.xml'] ?? '';
  expect(content).toContain('<table:table-cell office:value-type="string"><text:p>«PERSON_1»</text:p>');
  expect(content).toContain('office:value="3" table:formula="of:=1+2"');
  expect(Object.keys(entriesOf(bytes))).toEqual(['mimetype', 'content.xml', 'META-INF/manifest.xml']);
  expect(Buffer.from(bytes).subarray(30, 38).toString()).toBe('mimetype');
});

test('slides are read in the order in which they are shown, with their notes', async () => {
  const slide = (text: string) => ({
    ...{ type: 'presentationml.slide+xml', content: `<sld><p><r><t>${text}</t></r></p></sld>` },
    relations: { rId1: ['notesSlide', `../notes${text}.xml`] as const },
  });
  const notes = (text: string) => ({
    type: 'presentationml.notesSlide+xml',
    content: `<notes><p><t>${text}</t></p></notes>`,
  });
  const file = officeFile({
    'ppt/presentation.xml': {
      type: 'presentationml.presentation.main+xml',
      content: '<p xmlns:r="urn:r"><sldIdLst><sldId id="2" r:id="rId2"/><sldId id="1" r:id="rId1"/></sldIdLst></p>',
      relations: { rId1: ['slide', 'slides/a.xml'], rId2: ['slide', 'slides/b.xml'] },
    },
    'ppt/slides/a.xml': slide('One'),
    'ppt/slides/b.xml': slide('Two'),
    'ppt/notesOne.xml': notes('of one'),
    'ppt/notesTwo.xml': notes('of two'),
  });
  expect(await shownIn(presentation, file)).toEqual(['Two', 'of two', 'One', 'of one']);
});

test('a book keeps links within it, and a list of contents', async () => {
  const file = zipSync({
    mimetype: [strToU8('application/epub+zip'), { level: 0 }],
    'META-INF/container.xml': strToU8('<c><rootfile full-path="x/b.opf"/></c>'),
    'x/b.opf': strToU8(
      '<package><manifest><item id="a" href="Ada_Lovelace.xhtml" media-type="application/xhtml+xml"/><item id="b" href="b.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="b"/><itemref idref="a"/></spine></package>',
    ),
    'x/Ada_Lovelace.xhtml': strToU8(`<html><body><h1 id="Ada_Lovelace">${NAME}</h1></body></html>`),
    'x/b.xhtml': strToU8('<html><body><a href="Ada_Lovelace.xhtml#Ada_Lovelace">1&nbsp;</a></body></html>'),
  });
  const { bytes } = await withoutAda(epub, file);
  const entries = entriesOf(bytes);
  expect(entries['book/chapter1.xhtml']).toContain('<a href="chapter2.xhtml#PERSON_1">1\u00a0</a>');
  expect(entries['book/chapter2.xhtml']).toContain('<h1 id="PERSON_1">«PERSON_1»</h1>');
  expect(entries['book/contents.xhtml']).toContain('href="chapter2.xhtml"');
});

describe('mail', () => {
  const head = 'From: Bob <bob@example.org>\r\nSubject: x\r\nMIME-Version: 1.0\r\n';

  test('of a file that cannot be looked into, a text says so', async () => {
    const file = Buffer.from(
      `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nHi ${NAME}\r\n--b\r\nContent-Type: application/zip\r\nContent-Disposition: attachment; filename="${NAME}.7z"\r\n\r\n7z\r\n--b\r\nContent-Type: application/x\r\nContent-Disposition: attachment; filename=b\r\n\r\n\0\0${NAME}\r\n--b--`,
    );
    const { bytes, pages } = await withoutAda(mail, file);
    const told = await mail.read(fileOf(bytes), { recognize: 'auto' }, tools);
    expect(pages).toBe(2);
    const texts = told.units.map(({ text }) => text).join('\n');
    expect(texts).not.toContain('Lovelace');
    expect(texts).toContain('Hi «PERSON_1»');
    expect(texts).toContain('A file was removed here, since it cannot be looked into: this kind of file is not read.');
  });

  test('who has no address left is a group of nobody; others keep theirs', async () => {
    const { bytes } = await withoutAda(mail, Buffer.from(`${head}To: ${NAME}:;, c@example.org\r\n\r\nHi`));
    const written = Buffer.from(bytes).toString();
    expect(written).toMatch(/^From: =\?utf-8\?B\?Qm9i\?= <bob@example\.org>\r$/m);
    expect(written).toMatch(/^To: =\?utf-8\?B\?[\w+/=]+\?=:;,\r\n c@example\.org\r$/m);
  });

  test('a text loses what is locked or encoded in it, and says so', () => {
    const locked = 'a\n-----BEGIN PGP MESSAGE-----\nhQEM\n-----END PGP MESSAGE-----\nb\nbegin 644 x.txt\n#0V%T\nend\nc';
    const gone = '[a part that cannot be looked into was removed here]';
    expect(withoutOpaque(locked)).toBe(['a', gone, 'b', gone, 'c'].join('\n'));
    expect(withoutOpaque('begin 644 with care')).not.toContain('644');
    expect(withoutOpaque('we begin 644 things')).toBe('we begin 644 things');
  });
});
