import { deflateSync } from 'node:zlib';
import { PDFDocument } from '@cantoo/pdf-lib';
import { strToU8, zipSync } from 'fflate';
import type { DocumentFaultKind } from '#/ports/documents.ts';
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
  return Buffer.concat([
    Buffer.from(`<<${head}/Length ${content.length}>>stream\n`),
    content,
    Buffer.from('\nendstream'),
  ]);
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
  const objects = Array.from(
    { length: count },
    (_, at) => `<</Type/Annot/Subtype/Widget/FT/Tx/T(f${at})/V(v${at})/DA(/Helv 9 Tf)/Rect[0 0 50 10]>>`,
  );
  const kids = objects.map((_, at) => `${at + 5} 0 R`).join(' ');
  return pdfOf(
    `<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[${kids}]>>>>`,
    PAGES,
    page(`/Annots[${kids}]`),
    stream(''),
    ...objects,
  );
}

const flate = '/Filter/FlateDecode';

/** A stretch of blanks. */
export function blanks(mebibytes: number): Buffer {
  return Buffer.alloc(mebibytes << 20, 0x20);
}

/** PDFs, and what is taken for one. */
export const HOSTILE_PDFS: readonly HostileFile[] = [
  {
    what: 'half a PDF',
    name: 'a.pdf',
    make: async () => (await letter(['Hello'])).subarray(0, 300),
    ends: ['unreadable'],
  },
  { what: 'a PDF with a password', name: 'a.pdf', make: encrypted, ends: ['encrypted'] },
  {
    what: 'a quarter of a gigabyte, deflated twice',
    name: 'a.pdf',
    make: () => onePage('', stream(deflateSync(deflateSync(blanks(256))), '/Filter[/FlateDecode/FlateDecode]')),
    ends: ['too_large'],
  },
  {
    what: 'a content of a quarter of a gigabyte',
    name: 'a.pdf',
    make: () => onePage('', stream(deflateSync(blanks(256)), flate)),
    ends: ['too_large', 'done'],
  },
  { what: 'forms in forms', name: 'a.pdf', make: nestedForms, ends: ['too_large'] },
  {
    what: 'a picture of billions of dots',
    name: 'a.pdf',
    make: () => picture(60_000, deflateSync(blanks(64)), 'FlateDecode'),
    ends: ['too_large', 'unreadable', 'done'],
  },
  {
    what: 'a picture that is none',
    name: 'a.pdf',
    make: () => picture(100, Buffer.from('no picture'), 'DCTDecode'),
    ends: ['done', 'unreadable'],
  },
  {
    what: 'a page of 200 kilometres',
    name: 'a.pdf',
    make: () => pdfOf(CATALOG, PAGES, page('', '0 0 600000000 600000000'), stream('0 0 9 9 re f')),
    ends: ['done', 'too_large', 'unreadable'],
  },
  {
    what: 'a page of no size',
    name: 'a.pdf',
    make: () => pdfOf(CATALOG, PAGES, page('', '0 0 0 0'), stream('0 0 9 9 re f')),
    ends: ['done', 'unreadable'],
  },
  {
    what: 'a page of numbers that are none',
    name: 'a.pdf',
    make: () => pdfOf(CATALOG, PAGES, page('', '-1e99 nan 1e99 99999999999999999999'), stream('')),
    ends: ['done', 'too_large', 'unreadable'],
  },
  {
    what: 'pages that hold themselves',
    name: 'a.pdf',
    make: () => pdfOf(CATALOG, '<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2000000000>>'),
    ends: ['unreadable', 'too_many_pages', 'too_large'],
  },
  {
    what: 'a form that draws itself',
    name: 'a.pdf',
    make: () =>
      onePage(
        '/Resources 6 0 R',
        stream('/X Do'),
        stream('/X Do '.repeat(50), '/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources 6 0 R'),
        '<</XObject<</X 5 0 R>>>>',
      ),
    ends: ['done', 'too_large', 'unreadable'],
  },
  { what: '10,000 pages', name: 'a.pdf', make: () => manyPages(10_000), ends: ['too_many_pages'] },
  { what: '20,000 fields', name: 'a.pdf', make: () => manyFields(20_000), ends: ['done', 'too_large'] },
  {
    what: 'arrays in arrays',
    name: 'a.pdf',
    make: () => pdfOf(CATALOG, PAGES, page(`/X ${'['.repeat(100_000)}`), stream('')),
    ends: ['done', 'unreadable', 'too_large'],
  },
  ...(['FontFile', 'FontFile2', 'FontFile3'] as const).map((kind): HostileFile => ({
    what: `a broken font (${kind})`,
    name: 'a.pdf',
    make: () => brokenFont(kind),
    ends: ['done', 'unreadable'],
  })),
  {
    what: 'a PDF that is a zip file behind',
    name: 'a.pdf',
    make: async () => Buffer.concat([await letter(['Hello']), zipSync({ a: strToU8('Ada Lovelace') })]),
    ends: ['done'],
  },
  {
    what: 'text that is a PDF behind',
    name: 'a.txt',
    make: async () => Buffer.concat([Buffer.from('Hello\n'), await letter(['Hello'])]),
    ends: ['unreadable'],
  },
  {
    what: 'a program',
    name: 'a.pdf',
    make: () => Buffer.from('7f454c46020101000000000000000000', 'hex'),
    ends: ['unsupported'],
  },
  {
    what: 'three deflated streams in each other',
    name: 'a.pdf',
    make: () =>
      onePage('', stream(deflateSync(deflateSync(deflateSync(blanks(512)))), `/Filter[${'/FlateDecode'.repeat(3)}]`)),
    ends: ['too_large', 'unreadable'],
  },
  {
    what: 'a hundred filters',
    name: 'a.pdf',
    make: () => onePage('', stream('00'.repeat(1000), `/Filter[${'/ASCIIHexDecode'.repeat(100)}]`)),
    ends: ['too_large', 'unreadable', 'done'],
  },
  {
    what: 'blanks for a filter that passes over them',
    name: 'a.pdf',
    make: () => onePage('', stream(deflateSync(blanks(90)), '/Filter[/FlateDecode/ASCIIHexDecode]')),
    ends: ['too_large', 'unreadable', 'done'],
  },
  {
    what: 'three million operators',
    name: 'a.pdf',
    make: () => onePage('', stream(deflateSync(Buffer.from('q Q 1 0 0 1 0 0 cm '.repeat(1_000_000))), flate)),
    ends: ['too_large', 'done'],
  },
  {
    what: 'a million path operators',
    name: 'a.pdf',
    make: () => onePage('', stream(deflateSync(Buffer.from('0 0 m 9 9 l S '.repeat(350_000))), flate)),
    ends: ['too_large', 'done'],
  },
  {
    what: '300,000 text objects',
    name: 'a.pdf',
    make: () =>
      onePage(
        '/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>',
        stream(deflateSync(Buffer.from('BT /F 9 Tf 9 9 Td (x) Tj ET '.repeat(300_000))), flate),
      ),
    ends: ['too_large', 'done'],
  },
  { what: 'a PDF called a picture', name: 'a.png', make: () => letter(['Hello']), ends: ['done'] },
];

async function encrypted(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  document.addPage([100, 100]);
  document.encrypt({ userPassword: 'secret', ownerPassword: 'secret' });
  return document.save();
}
