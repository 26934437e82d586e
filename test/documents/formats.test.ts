import { PDFDocument } from '@cantoo/pdf-lib';
import { Document, Packer, Paragraph } from 'docx';
import exceljs from 'exceljs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { officeFile, stringsOf } from '../harness/office.ts';
import { everythingIn, letter } from '../harness/pdfs.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { formOf, ocrOf, startDocumentWorld, type DocumentWorld } from './world.ts';

interface Answer {
  readonly filename: string;
  readonly content_type: string;
  readonly content_base64: string;
  readonly summary: { readonly pages: number; readonly categories: readonly string[] };
  readonly mapping: readonly { readonly token: string; readonly original: string }[];
}

/** A document of each kind of text, and what it is without Ada, her address and her account. */
const TEXTS: readonly (readonly [name: string, mediaType: string, text: string])[] = [
  ['a.txt', 'text/plain', 'Ada Lovelace, ada@example.com\nIBAN DE89 3704 0044 0532 0130 00\nADA  LOVELACE\n'],
  ['a.md', 'text/markdown', '# Ada Lovelace\n\nWrite to [her](mailto:ada@example.com), DE89370400440532013000.\n'],
  ['a.csv', 'text/csv', 'name,mail,account\nAda Lovelace,ada@example.com,DE89370400440532013000\n'],
  [
    'a.html',
    'text/html',
    '<!doctype html><title>Ada Lovelace</title><!-- ada@example.com --><p alt="x">Ada <b>Lovelace</b> DE89370400440532013000</p>',
  ],
];

let engine: EngineProcess;
let world: DocumentWorld;
beforeAll(async () => {
  engine = await startDocumentEngine();
  world = await startDocumentWorld({ documentsUrl: engine.url });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await engine.stop();
});

describe('a document of text', () => {
  test.each(TEXTS)(
    '%s comes back without what is personal; the mapping puts it back',
    async (name, mediaType, text) => {
      const options = { remove: [{ term: 'Ada Lovelace', label: 'person' }], include_mapping: true };
      const answer = await world.anonymize(formOf(Buffer.from(text), name, options));
      const body = (await answer.json()) as Answer;
      expect([answer.status, body.filename, body.content_type]).toEqual([200, name, mediaType]);
      const left = Buffer.from(body.content_base64, 'base64').toString('utf8');
      expect(left).not.toMatch(/ada|lovelace|example\.com|3704/i);
      const originals = body.mapping.map(({ original }) => original.replace(/\s/g, ''));
      expect(originals.sort()).toEqual(expect.arrayContaining(['AdaLovelace', 'DE89370400440532013000']));
      for (const { token } of body.mapping) expect(token).toMatch(/^«(?:PERSON|EMAIL|IBAN)_1»$/);
      expect(await world.row(answer)).toMatchObject({
        units: { pages: 1 },
        cost_nano_eur: '1000000',
        outcome: 'served',
      });
    },
  );
});

const LINES = ['Ada Lovelace', 'ada@example.com', 'DE89 3704 0044 0532 0130 00'];

async function pdf(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  for (const line of [...LINES, ...Array.from({ length: 9 }, (_, index) => `Page ${index}`)]) {
    document.addPage([300, 200]).drawText(line, { x: 20, y: 100, size: 14 });
  }
  return document.save();
}

const word = (): Promise<Uint8Array> =>
  Packer.toBuffer(
    new Document({ creator: 'Ada Lovelace', sections: [{ children: LINES.map((text) => new Paragraph(text)) }] }),
  );

async function workbook(): Promise<Uint8Array> {
  const book = new exceljs.Workbook();
  book.creator = 'Ada Lovelace';
  for (const [index, line] of LINES.entries()) book.addWorksheet(`Sheet ${index}`).addRow([line, index]);
  return new Uint8Array(await book.xlsx.writeBuffer());
}

test.each([
  ['a.pdf', pdf, 12],
  ['a.docx', word, 1],
  ['a.xlsx', workbook, 3],
] as const)('%s comes back without what is personal, billed by its pages', async (name, make, pages) => {
  const options = { remove: ['Ada Lovelace'], entities: ['email', 'iban'], include_mapping: true };
  const answer = await world.anonymize(formOf(await make(), name, options));
  const body = (await answer.json()) as Answer;
  expect([answer.status, JSON.stringify(body).slice(0, 300)]).toEqual([200, expect.any(String)]);
  expect(body.summary).toMatchObject({ categories: ['EMAIL', 'IBAN', 'TERM'], pages });
  expect(await world.row(answer)).toMatchObject({ units: { pages }, cost_nano_eur: String(pages * 1_000_000) });
  const again = await world.anonymize(formOf(Buffer.from(body.content_base64, 'base64'), name, options));
  expect(((await again.json()) as Answer).mapping).toEqual([]);
});

test('a PDF with a text layer is read by gw/ocr without recognition', async () => {
  const answer = await world.ocr(ocrOf(await pdf(), { pages: [0, 1] }, 'application/pdf'));
  const { pages } = (await answer.json()) as { pages: readonly { markdown: string }[] };
  expect(pages.map(({ markdown }) => markdown.trim())).toEqual(['Ada Lovelace', 'ada@example.com']);
});

test('a name of a file keeps the ending of its type', async () => {
  const answer = await world.anonymize(formOf(Buffer.from('hello'), 'ada@lovelace.example.txt', {}));
  expect(((await answer.json()) as Answer).filename).toBe('«EMAIL_1».txt');
});

const ADDRESS = 'https://x.example/?m=ada%40lovelace.example&n=J%C3%BCrgen%20M%C3%BCller&k=a%26b';
const APART = 'A D A   L O V E L A C E';
const WORD = 'wordprocessingml.document.main+xml';
const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

function wordOf(body: string): Uint8Array {
  const content = `<?xml version="1.0"?><w:document ${W}><w:body>${body}</w:body></w:document>`;
  return officeFile({ 'word/document.xml': { type: WORD, content } });
}

const run = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
const field = `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK "${ADDRESS.replaceAll('&', '&amp;')}"</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`;

/** Ways to write Jürgen Müller, Ada Lovelace and her address, and what of the document must be left. */
const DISGUISED: readonly (readonly [
  what: string,
  name: string,
  make: () => Uint8Array | Promise<Uint8Array>,
  left: string,
])[] = [
  ['JSON', 'a.json', () => Buffer.from('{"kunde":"J\\u00fcrgen M\\u00fcller","x":"\\u00fc"}'), '"x":"\\u00fc"}'],
  ['JSON as text', 'a.txt', () => Buffer.from('{"a":[1,"J\\u00fcrgen M\\u00fcller"]}'), '{"a":[1,"«'],
  ['almost JSON', 'a.txt', () => Buffer.from('{"kunde":"J\\u00fcrgen M\\u00fcller",}'), '{"kunde":"«'],
  ['XML without a head', 'a.xml', () => Buffer.from('<k>J&#252;rgen M&#xfc;ller</k>'), '</k>'],
  ['an address in a text', 'a.txt', () => Buffer.from(`See ${ADDRESS} now`), '&k=a%26b now'],
  ['an address in a table', 'a.csv', () => Buffer.from(`a,b\n1,${ADDRESS}\n`), '&k=a%26b'],
  ['an address in HTML', 'a.html', () => Buffer.from(`<html><p>${ADDRESS}</p></html>`), 'k=a%26b'],
  ['an address in Markdown', 'a.md', () => Buffer.from(`See <${ADDRESS}>`), 'See '],
  ['an address in a Word document', 'a.docx', () => wordOf(run(ADDRESS.replaceAll('&', '&amp;'))), 'k=a%26b'],
  ['an address of a field', 'a.docx', () => wordOf(field), 'k=a%26b'],
  ['addresses of a workbook', 'a.xlsx', addresses, 'hello'],
  ['an address in a PDF', 'a.pdf', () => letter(['See', ADDRESS, 'now'], 8), 'k=a%26b'],
  ['letters apart in a text', 'a.txt', () => Buffer.from(`Dear ${APART},\nhello`), ',\nhello'],
  ['letters apart in a Word document', 'a.docx', () => wordOf(run(APART) + run('hello')), 'hello'],
  ['letters apart in a PDF', 'a.pdf', () => letter(['hello', APART]), 'hello'],
  ['a link of Markdown', 'a.md', () => Buffer.from('by [Jürgen](http://x) Müller.'), 'by '],
  ['a broken line of Markdown', 'a.md', () => Buffer.from('by Jürgen\\\nMüller.'), 'by '],
  ['a break of HTML in Markdown', 'a.md', () => Buffer.from('by Jürgen<br>Müller.'), 'by '],
  [
    'an address over two paragraphs',
    'a.docx',
    () => wordOf(run('Write to ada@love-') + run('lace.example soon')),
    ' soon',
  ],
  ['signs of a font', 'a.docx', () => wordOf(signs('Jürgen Müller', 'Arial') + run('hello')), 'hello'],
  ['signs of a font of pictures', 'a.docx', () => wordOf(signs('Jürgen Müller', 'Wingdings') + run('hello')), 'hello'],
];

/** A workbook with an address in a cell, in a formula and behind a cell, and letters apart. */
async function addresses(): Promise<Uint8Array> {
  const book = new exceljs.Workbook();
  const sheet = book.addWorksheet('Sheet');
  sheet.addRow([ADDRESS, 'hello', APART]);
  sheet.addRow([
    { formula: `HYPERLINK("${ADDRESS}","x")`, result: 'x' },
    { text: 'x', hyperlink: ADDRESS },
  ]);
  return new Uint8Array(await book.xlsx.writeBuffer());
}

/** A paragraph of which each letter is a sign of a font. */
function signs(text: string, font: string): string {
  const written = Array.from(text, (letter) => {
    const code = `F0${(letter.codePointAt(0) ?? 0).toString(16).padStart(2, '0').toUpperCase()}`;
    return `<w:sym w:font="${font}" w:char="${code}"/>`;
  });
  return `<w:p><w:r>${written.join('')}</w:r></w:p>`;
}

/** A text without blanks, and signs of fonts as letters. */
function bareOf(text: string): string {
  const letters = text.replace(/<w:sym [^>]*F0([0-9A-F]{2})[^>]*>/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return letters.replace(/<[^>]*>|\s|%20/g, '');
}

describe('what is written otherwise than it reads', () => {
  test.each(DISGUISED)('goes too: %s', async (_, name, make, left) => {
    const bytes = await make();
    const answer = await world.anonymize(formOf(bytes, name, { remove: ['Jürgen Müller', 'Ada Lovelace'] }));
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as Answer;
    const result = Buffer.from(body.content_base64, 'base64');
    const texts = name.endsWith('x')
      ? stringsOf(result)
      : name.endsWith('.pdf')
        ? await everythingIn(result)
        : result.toString();
    expect(texts.replaceAll('&amp;', '&')).toContain(left);
    const traces = /lovelace|love-|lace\.example|rgen|M(?:ü|%C3%BC|&#xfc;|\\u00fc)ller|adalove/i;
    expect(bareOf(texts)).not.toMatch(traces);
  });
});
