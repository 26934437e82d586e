import { deflateSync } from 'node:zlib';
import { PDFDocument } from '@cantoo/pdf-lib';
import { strToU8, zipSync } from 'fflate';
import sharp from 'sharp';
import type { DocumentFaultKind } from '#ports/documents.ts';
import { officeFile } from '../harness/office.ts';
import { letter } from '../harness/pdfs.ts';

/** A file that means harm, or is broken, and how work on it may end: `done` where nothing is wrong with what comes out. */
export interface HostileFile {
  readonly what: string;
  readonly name: string;
  readonly make: () => Uint8Array | Promise<Uint8Array>;
  readonly ends: readonly (DocumentFaultKind | 'done')[];
}

const CATALOG = '<</Type/Catalog/Pages 2 0 R>>';
const PAGES = '<</Type/Pages/Kids[3 0 R]/Count 1>>';
const page = (rest: string, box = '0 0 200 200'): string =>
  `<</Type/Page/Parent 2 0 R/MediaBox[${box}]/Contents 4 0 R${rest}>>`;

/** A PDF of these objects, the first of which is the catalog, without the table of them that readers rebuild. */
function pdfOf(...objects: readonly (string | Buffer)[]): Uint8Array {
  const parts = objects.flatMap((object, at) => [`${at + 1} 0 obj\n`, object, '\nendobj\n']);
  const all = ['%PDF-1.7\n', ...parts, `trailer<</Root 1 0 R/Size ${objects.length + 1}>>\n%%EOF\n`];
  return Buffer.concat(all.map((part) => Buffer.from(part)));
}

function stream(bytes: Buffer | string, head = ''): Buffer {
  const content = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(`<<${head}/Length ${content.length}>>stream\n`), content, Buffer.from('\nendstream')]);
}

const onePage = (rest: string, content: Buffer, ...more: readonly (string | Buffer)[]): Uint8Array =>
  pdfOf(CATALOG, PAGES, page(rest), content, ...more);

/** Each form draws the next one ten times. */
function nestedForms(): Uint8Array {
  const form = (at: number): Buffer =>
    stream('/X Do '.repeat(10), `/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X ${at + 6} 0 R>>>>`);
  const last = stream('0 0 9 9 re f', '/Type/XObject/Subtype/Form/BBox[0 0 9 9]');
  const forms = Array.from({ length: 12 }, (_, at) => form(at));
  return onePage('/Resources<</XObject<</X 5 0 R>>>>', stream('/X Do'), ...forms, last);
}

function picture(side: number, data: Buffer, filter: string): Uint8Array {
  const head = `/Type/XObject/Subtype/Image/Width ${side}/Height ${side}/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/${filter}`;
  return onePage('/Resources<</XObject<</I 5 0 R>>>>', stream('200 0 0 200 0 0 cm /I Do'), stream(data, head));
}

function brokenFont(kind: 'FontFile' | 'FontFile2' | 'FontFile3'): Uint8Array {
  const rubbish = Buffer.from(Array.from({ length: 4000 }, (_, at) => (at * 7919) & 0xff));
  return onePage(
    '/Resources<</Font<</F 5 0 R>>>>',
    stream('BT /F 20 Tf 20 100 Td (Hello) Tj ET'),
    '<</Type/Font/Subtype/TrueType/BaseFont/X/FirstChar 0/LastChar 1/Widths[1 1]/FontDescriptor 6 0 R>>',
    `<</Type/FontDescriptor/FontName/X/Flags 4/${kind} 7 0 R>>`,
    stream(rubbish),
  );
}

async function manyPages(count: number): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  for (let index = 0; index < count; index++) document.addPage([10, 10]);
  return document.save();
}

async function manyFields(count: number): Promise<Uint8Array> {
  const objects = Array.from({ length: count }, (_, at) => `<</Type/Annot/Subtype/Widget/FT/Tx/T(f${at})/V(v${at})/DA(/Helv 9 Tf)/Rect[0 0 50 10]>>`);
  const kids = objects.map((_, at) => `${at + 5} 0 R`).join(' ');
  return pdfOf(`<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[${kids}]>>>>`, PAGES, page(`/Annots[${kids}]`), stream(''), ...objects);
}

const WORD = 'wordprocessingml.document.main+xml';
const body = (inner: string): string => `<w:document xmlns:w="urn:w"><w:body>${inner}</w:body></w:document>`;
const word = (inner: string): Uint8Array => officeFile({ 'word/document.xml': { type: WORD, content: body(inner) } });

/** A workbook of rows of ten cells. */
function sheetOf(cells: number, cell: (at: number) => string): Uint8Array {
  const rows: string[] = [];
  for (let row = 0; row * 10 < cells; row++)
    rows.push(`<row r="${row + 1}">${Array.from({ length: 10 }, (_, column) => cell(row * 10 + column)).join('')}</row>`);
  return officeFile({
    'xl/workbook.xml': {
      type: 'spreadsheetml.sheet.main+xml',
      content: '<workbook xmlns:r="urn:r"><sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>',
      relations: { rId1: ['worksheet', 'worksheets/sheet1.xml'] },
    },
    'xl/worksheets/sheet1.xml': { type: 'spreadsheetml.worksheet+xml', content: `<worksheet><sheetData>${rows.join('')}</sheetData></worksheet>` },
  });
}

function entities(): Uint8Array {
  const levels = Array.from({ length: 9 }, (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`).join('');
  return officeFile({ 'word/document.xml': { type: WORD, content: `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "lol">${levels}]><a>&e9;</a>` } });
}

/** A zip in a zip in a zip. */
function nestedZip(depth: number): Uint8Array {
  let inner: Uint8Array = new Uint8Array(1 << 20);
  for (let level = 0; level < depth; level++) inner = zipSync({ 'word/document.xml': inner, '[Content_Types].xml': strToU8('<Types/>') });
  return inner;
}

/** The head of a PNG that says it is so large, with nothing behind it. */
async function lyingPng(side: number): Promise<Uint8Array> {
  const png = await sharp({ create: { width: 4, height: 4, channels: 3, background: 'red' } }).png().toBuffer();
  png.writeUInt32BE(side, 16);
  png.writeUInt32BE(side, 20);
  return png;
}

/** A GIF whose screen is as large as can be, with frames of a dot. */
function lyingGif(frames: number): Uint8Array {
  const frame = Buffer.from('2c00000000010001000002024401003b'.slice(0, -2), 'hex');
  const head = Buffer.from('474946383961ffffffff800000ffffff000000', 'hex');
  return Buffer.concat([head, ...Array.from({ length: frames }, () => frame), Buffer.from([0x3b])]);
}

const blanks = (mebibytes: number): Buffer => Buffer.alloc(mebibytes << 20, 0x20);
const flate = '/Filter/FlateDecode';

/** All of them. Sizes are far beyond what bounds allow, so that the slowest machine ends by a bound too. */
export const HOSTILE: readonly HostileFile[] = [
  { what: 'half a PDF', name: 'a.pdf', make: async () => (await letter(['Hello'])).subarray(0, 300), ends: ['unreadable'] },
  { what: 'a PDF with a password', name: 'a.pdf', make: encrypted, ends: ['encrypted'] },
  { what: 'a gigabyte, deflated twice', name: 'a.pdf', make: () => onePage('', stream(deflateSync(deflateSync(blanks(256))), '/Filter[/FlateDecode/FlateDecode]')), ends: ['too_large', 'unreadable'] },
  { what: 'a content of a quarter of a gigabyte', name: 'a.pdf', make: () => onePage('', stream(deflateSync(blanks(256)), flate)), ends: ['too_large'] },
  { what: 'forms in forms', name: 'a.pdf', make: nestedForms, ends: ['too_large'] },
  { what: 'a picture of billions of dots', name: 'a.pdf', make: () => picture(60_000, deflateSync(blanks(64)), 'FlateDecode'), ends: ['too_large', 'unreadable', 'done'] },
  { what: 'a picture that is none', name: 'a.pdf', make: () => picture(100, Buffer.from('no picture'), 'DCTDecode'), ends: ['done', 'unreadable'] },
  { what: 'a page of 200 kilometres', name: 'a.pdf', make: () => pdfOf(CATALOG, PAGES, page('', '0 0 600000000 600000000'), stream('0 0 9 9 re f')), ends: ['done', 'too_large', 'unreadable'] },
  { what: 'a page of no size', name: 'a.pdf', make: () => pdfOf(CATALOG, PAGES, page('', '0 0 0 0'), stream('0 0 9 9 re f')), ends: ['done', 'unreadable'] },
  { what: 'a page of numbers that are none', name: 'a.pdf', make: () => pdfOf(CATALOG, PAGES, page('', '-1e99 nan 1e99 99999999999999999999'), stream('')), ends: ['done', 'too_large', 'unreadable'] },
  { what: 'pages that hold themselves', name: 'a.pdf', make: () => pdfOf(CATALOG, '<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2000000000>>'), ends: ['unreadable', 'too_many_pages', 'too_large'] },
  { what: 'a form that draws itself', name: 'a.pdf', make: () => onePage('/Resources 6 0 R', stream('/X Do'), stream('/X Do '.repeat(50), '/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources 6 0 R'), '<</XObject<</X 5 0 R>>>>'), ends: ['done', 'too_large', 'unreadable'] },
  { what: '10,000 pages', name: 'a.pdf', make: () => manyPages(10_000), ends: ['too_many_pages'] },
  { what: '20,000 fields', name: 'a.pdf', make: () => manyFields(20_000), ends: ['done', 'too_large'] },
  { what: 'arrays in arrays', name: 'a.pdf', make: () => pdfOf(CATALOG, PAGES, page(`/X ${'['.repeat(100_000)}`), stream('')), ends: ['done', 'unreadable', 'too_large'] },
  ...(['FontFile', 'FontFile2', 'FontFile3'] as const).map((kind): HostileFile => ({ what: `a broken font (${kind})`, name: 'a.pdf', make: () => brokenFont(kind), ends: ['done', 'unreadable'] })),
  { what: 'a PDF that is a zip file behind', name: 'a.pdf', make: async () => Buffer.concat([await letter(['Hello']), zipSync({ a: strToU8('Ada Lovelace') })]), ends: ['done'] },
  { what: 'text that is a PDF behind', name: 'a.txt', make: async () => Buffer.concat([Buffer.from('Hello\n'), await letter(['Hello'])]), ends: ['unreadable'] },
  { what: 'a program', name: 'a.pdf', make: () => Buffer.from('7f454c46020101000000000000000000', 'hex'), ends: ['unsupported'] },
  { what: 'a PDF called a picture', name: 'a.png', make: () => letter(['Hello']), ends: ['done'] },
  { what: 'nothing', name: 'a.docx', make: () => new Uint8Array(), ends: ['unreadable'] },
  { what: 'half a Word document', name: 'a.docx', make: () => word('<w:p/>').subarray(0, 200), ends: ['unreadable'] },
  { what: 'a bomb of one entry', name: 'a.docx', make: () => officeFile({ 'word/document.xml': { type: WORD, content: body('') }, 'word/a.xml': { type: 'x/xml', content: blanks(200) } }), ends: ['too_large'] },
  { what: 'zip files in zip files', name: 'a.docx', make: () => nestedZip(6), ends: ['unreadable', 'unsupported'] },
  { what: 'entities of entities', name: 'a.docx', make: entities, ends: ['unreadable'] },
  { what: '100,000 elements in each other', name: 'a.docx', make: () => word(`${'<w:p>'.repeat(100_000)}${'</w:p>'.repeat(100_000)}`), ends: ['too_large'] },
  { what: 'a million paragraphs', name: 'a.docx', make: () => word('<w:p><w:r><w:t>x</w:t></w:r></w:p>'.repeat(1_000_000)), ends: ['too_large'] },
  { what: '20,000 parts', name: 'a.docx', make: () => officeFile({ 'word/document.xml': { type: WORD, content: body('') } }, Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`word/${at}.xml`, strToU8('<a/>')]))), ends: ['too_large'] },
  { what: 'ten cells more than there may be', name: 'a.xlsx', make: () => sheetOf(200_010, (at) => `<c><v>${at}</v></c>`), ends: ['too_large'] },
  { what: 'a million cells', name: 'a.xlsx', make: () => sheetOf(1_000_000, (at) => `<c><v>${at}</v></c>`), ends: ['too_large'] },
  { what: 'elements in elements of HTML', name: 'a.html', make: () => Buffer.from(`<html>${'<div>'.repeat(200_000)}`), ends: ['too_large', 'done'] },
  { what: 'a line of 32 million letters', name: 'a.txt', make: () => Buffer.alloc(32 << 20, 'a'), ends: ['done', 'too_large'] },
  { what: 'two million cells of text', name: 'a.csv', make: () => Buffer.from('a,b\n'.repeat(1_000_000)), ends: ['too_large'] },
  { what: 'a PNG that says it is larger than it is', name: 'a.png', make: () => lyingPng(60_000), ends: ['too_large', 'unreadable'] },
  { what: 'a PNG that says it is a little larger', name: 'a.png', make: () => lyingPng(4000), ends: ['unreadable'] },
  { what: 'a GIF of a screen of billions of dots', name: 'a.gif', make: () => lyingGif(3), ends: ['too_large', 'unreadable', 'done'] },
  { what: 'a picture of 100 million dots', name: 'a.png', make: () => sharp({ create: { width: 10_000, height: 10_000, channels: 3, background: 'white' } }).png().toBuffer(), ends: ['too_large'] },
  { what: 'half a JPEG', name: 'a.jpg', make: async () => (await sharp({ create: { width: 900, height: 900, channels: 3, background: 'red' } }).jpeg().toBuffer()).subarray(0, 700), ends: ['unreadable'] },
];

async function encrypted(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  document.addPage([100, 100]);
  document.encrypt({ userPassword: 'secret', ownerPassword: 'secret' });
  return document.save();
}
