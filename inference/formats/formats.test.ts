import { strToU8, unzipSync, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import type { DocumentFile, RedactedDocument } from '#/ports/documents.ts';
import { officeFile } from '../../test/harness/office.ts';
import { epub } from './epub/epub.ts';
import type { Format, Tools } from './format.ts';
import { html } from './html/html.ts';
import { formatOf } from './list.ts';
import { createMail } from './mail/mail.ts';
import { withoutOpaque } from './mail/opaque.ts';
import { opendocument } from './opendocument/opendocument.ts';
import { presentation } from './presentation/presentation.ts';
import { rtf } from './rtf/rtf.ts';
import { text } from './text/text.ts';

const mail = createMail(formatOf);
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

/** A book of one chapter, which its list names so many times. */
function bookOf(chapter: string, times = 1): Uint8Array {
  const items = Array.from(
    { length: times },
    (_, at) => `<item id="a${at}" href="a.xhtml" media-type="application/xhtml+xml"/>`,
  );
  return zipSync({
    mimetype: [strToU8('application/epub+zip'), { level: 0 }],
    'META-INF/container.xml': strToU8('<c><rootfile full-path="b.opf"/></c>'),
    'b.opf': strToU8(`<package><manifest>${items.join('')}</manifest><spine><itemref idref="a0"/></spine></package>`),
    'a.xhtml': strToU8(chapter),
  });
}

function openText(body: string, styles: string): Uint8Array {
  const names = ['office', 'style', 'text']
    .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
    .join(' ');
  return zipSync({
    mimetype: [strToU8('application/vnd.oasis.opendocument.text'), { level: 0 }],
    'content.xml': strToU8(
      `<office:document-content ${names}><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    ),
  });
}

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

  test('goes on behind the end of a paragraph that is hidden', async () => {
    const { bytes } = await withoutAda(rtf, rich('Ada Love{\\v\\par}lace'));
    expect(await shownIn(rtf, bytes)).toEqual(['«PERSON_1»']);
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

describe('text on both sides of what is not seen is read as one', () => {
  const mark = (between: string): string => `<p>Ada Love${between}lace</p>`;

  test.each([
    ['a program', mark('<script>x</script>')],
    ['what is hidden', mark('<span hidden="">x</span>')],
    ['an element that nobody knows', mark('<my-own>x</my-own>')],
  ])('of a page and a book: %s', async (_, page) => {
    const { bytes } = await withoutAda(html, Buffer.from(`<html><body>${page}</body></html>`));
    expect(await shownIn(html, bytes)).toEqual(['«PERSON_1»']);
    const written = (await withoutAda(epub, bookOf(`<html><body>${page}</body></html>`))).bytes;
    expect(await shownIn(epub, written)).toContain('«PERSON_1»');
  });

  test.each([
    ['a program', '<text:script>x</text:script>'],
    ['an element of strangers', '<x:y xmlns:x="urn:x">x</x:y>'],
    ['a style that is not shown', '<text:span text:style-name="U">x</text:span>'],
    ['one that takes it over', '<text:span text:style-name="V">x</text:span>'],
  ])('of OpenDocument: %s', async (_, between) => {
    const styles =
      '<style:style style:name="V" style:parent-style-name="U"/><style:style style:name="U"><style:text-properties text:display="none"/></style:style>';
    const { bytes } = await withoutAda(opendocument, openText(`<text:p>Ada Love${between}lace</text:p>`, styles));
    expect(await shownIn(opendocument, bytes)).toEqual(['«PERSON_1»']);
  });

  test('of slides: lists of extensions', async () => {
    const file = officeFile({
      'ppt/presentation.xml': {
        ...{ type: 'presentationml.presentation.main+xml', relations: { rId1: ['slide', 'slides/a.xml'] as const } },
        content: '<p xmlns:r="urn:r"><sldIdLst><sldId id="1" r:id="rId1"/></sldIdLst></p>',
      },
      'ppt/slides/a.xml': {
        ...{ type: 'presentationml.slide+xml' },
        content: '<sld><p><r><t>Ada Love</t></r><extLst><ext><t>x</t></ext></extLst><r><t>lace</t></r></p></sld>',
      },
    });
    const { bytes } = await withoutAda(presentation, file);
    expect(await shownIn(presentation, bytes)).toEqual(['«PERSON_1»']);
  });
});

test('a number behind a sign in a description is read, which is no link within a book', async () => {
  const { units } = await epub.read(
    fileOf(bookOf('<html><body><p title="#4111 1111">x</p></body></html>')),
    { recognize: 'auto' },
    tools,
  );
  expect(units.map(({ text }) => text)).toContain('#4111 1111');
});

test('a chapter that a book lists twice is one', async () => {
  const { bytes } = await withoutAda(epub, bookOf('<html><body>x</body></html>', 3));
  expect(Object.keys(entriesOf(bytes)).filter((name) => name.includes('chapter'))).toEqual(['book/chapter1.xhtml']);
});

test('a line of a calendar that is broken within a word is read whole', async () => {
  const folded = (...lines: string[]): Uint8Array => Buffer.from(['BEGIN:VCALENDAR', ...lines].join('\r\n'));
  const written = await withoutAda(text, folded('VERSION:2.0', 'ATTENDEE;CN=Ada Love', ' lace:mailto:x'));
  expect(Buffer.from(written.bytes).toString()).toContain('CN=«PERSON_1»:mailto:x');
  const old = await withoutAda(text, folded('VERSION:2.1', 'N:Ada', ' Lovelace'));
  expect(Buffer.from(old.bytes).toString()).toContain('N:«PERSON_1»');
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
    expect(texts).toContain(
      'A file was removed here because it cannot be inspected: this file format is not supported.',
    );
  });

  test('who has no address left is a group of nobody; others keep theirs', async () => {
    const { bytes } = await withoutAda(mail, Buffer.from(`${head}To: ${NAME}:;, c@example.org\r\n\r\nHi`));
    const written = Buffer.from(bytes).toString();
    expect(written).toMatch(/^From: =\?utf-8\?B\?Qm9i\?= <bob@example\.org>\r$/m);
    expect(written).toMatch(/^To: =\?utf-8\?B\?[\w+/=]+\?=:;,\r\n c@example\.org\r$/m);
  });

  test('another spelling in the head gets the tag of the first', async () => {
    const file = Buffer.from(`From: ${NAME} <a@x.example>\r\nSubject: Of ADA  LOVELACE\r\n\r\nHi`);
    const { bytes } = await withoutAda(mail, file);
    expect(await shownIn(mail, bytes)).toContain('Of «PERSON_1»');
  });

  test('a text loses what is locked or encoded in it, and says so', () => {
    const locked = 'a\n-----BEGIN PGP MESSAGE-----\nhQEM\n-----END PGP MESSAGE-----\nb\nbegin 644 x.txt\n#0V%T\nend\nc';
    const gone = '[a part that cannot be inspected was removed here]';
    expect(withoutOpaque(locked)).toBe(['a', gone, 'b', gone, 'c'].join('\n'));
    expect(withoutOpaque('a\n> -----BEGIN CERTIFICATE-----\n> QQ==\n> -----END CERTIFICATE-----\nb')).toBe(
      `a\n${gone}\nb`,
    );
    expect(withoutOpaque('a\n=ybegin line=128 size=3 name=x\n***\n=yend size=3\nb')).toBe(`a\n${gone}\nb`);
    const signed = '-----BEGIN PGP SIGNED MESSAGE-----\n\na';
    expect(withoutOpaque(signed)).toBe(signed);
    expect(withoutOpaque('begin 644 with care')).not.toContain('644');
    expect(withoutOpaque('we begin 644 things')).toBe('we begin 644 things');
  });

  test('so does a file of text that came with it', async () => {
    const file = Buffer.from(
      `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: application/x; name=x\r\nContent-Transfer-Encoding: x-uuencode\r\n\r\nbegin 644 x.txt\r\n#0V%T\r\nend\r\n--b--`,
    );
    const { bytes } = await withoutAda(mail, file);
    const texts = (await shownIn(mail, bytes)).join('\n');
    expect(texts).toContain('a part that cannot be inspected was removed here');
    expect(texts).not.toContain('#0V%T');
  });

  test.each([
    'Content-Type: text/plain; charset="UTF-7"\r\n\r\nM+APw-ller',
    'Cc: =?utf-7?Q?M+APw-ller?= <m@x.example>\r\n\r\nx',
  ])('letters in others that nobody reads are refused: %j', async (rest) => {
    await expect(mail.read(fileOf(Buffer.from(head + rest)), { recognize: 'auto' }, tools)).rejects.toMatchObject({
      kind: 'unsupported',
    });
  });
});
