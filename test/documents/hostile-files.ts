import { strToU8, zipSync } from 'fflate';
import sharp from 'sharp';
import { officeFile } from '../harness/office.ts';
import { HOSTILE_PACKAGES } from './hostile-packages.ts';
import { blanks, HOSTILE_PDFS, type HostileFile } from './hostile-pdfs.ts';

const WORD = 'wordprocessingml.document.main+xml';
const body = (inner: string): string => `<w:document xmlns:w="urn:w"><w:body>${inner}</w:body></w:document>`;
const word = (inner: string): Uint8Array => officeFile({ 'word/document.xml': { type: WORD, content: body(inner) } });

/** A workbook of rows of ten cells. */
function sheetOf(cells: number, cell: (at: number) => string): Uint8Array {
  const rows: string[] = [];
  for (let row = 0; row * 10 < cells; row++)
    rows.push(
      `<row r="${row + 1}">${Array.from({ length: 10 }, (_, column) => cell(row * 10 + column)).join('')}</row>`,
    );
  return officeFile({
    'xl/workbook.xml': {
      type: 'spreadsheetml.sheet.main+xml',
      content: '<workbook xmlns:r="urn:r"><sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>',
      relations: { rId1: ['worksheet', 'worksheets/sheet1.xml'] },
    },
    'xl/worksheets/sheet1.xml': {
      type: 'spreadsheetml.worksheet+xml',
      content: `<worksheet><sheetData>${rows.join('')}</sheetData></worksheet>`,
    },
  });
}

function entities(): Uint8Array {
  const levels = Array.from({ length: 9 }, (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`).join('');
  return officeFile({
    'word/document.xml': {
      type: WORD,
      content: `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "lol">${levels}]><a>&e9;</a>`,
    },
  });
}

/** A zip in a zip in a zip. */
function nestedZip(depth: number): Uint8Array {
  let inner: Uint8Array = new Uint8Array(1 << 20);
  for (let level = 0; level < depth; level++)
    inner = zipSync({ 'word/document.xml': inner, '[Content_Types].xml': strToU8('<Types/>') });
  return inner;
}

/** Cells that all show the same long text, which is stored once. */
function sharedStrings(cells: number, letters: number): Uint8Array {
  const row = (at: number): string => `<row r="${at + 1}"><c r="A${at + 1}" t="s"><v>0</v></c></row>`;
  return officeFile({
    'xl/workbook.xml': {
      type: 'spreadsheetml.sheet.main+xml',
      content: '<workbook xmlns:r="urn:r"><sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>',
      relations: { rId1: ['worksheet', 'worksheets/sheet1.xml'], rId2: ['sharedStrings', 'sharedStrings.xml'] },
    },
    'xl/worksheets/sheet1.xml': {
      type: 'spreadsheetml.worksheet+xml',
      content: `<worksheet><sheetData>${Array.from({ length: cells }, (_, at) => row(at)).join('')}</sheetData></worksheet>`,
    },
    'xl/sharedStrings.xml': {
      type: 'spreadsheetml.sharedStrings+xml',
      content: `<sst><si><t>${'x '.repeat(letters / 2)}</t></si></sst>`,
    },
  });
}

const attributes = (count: number): string => Array.from({ length: count }, (_, at) => `a${at}="1"`).join(' ');

/** The head of a PNG that says it is so large, with nothing behind it. */
async function lyingPng(side: number): Promise<Uint8Array> {
  const png = await sharp({ create: { width: 4, height: 4, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
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

/** All of them. Sizes are far beyond what bounds allow, so that the slowest machine ends by a bound too. */
export const HOSTILE: readonly HostileFile[] = [
  ...HOSTILE_PDFS,
  ...HOSTILE_PACKAGES,
  { what: 'nothing', name: 'a.docx', make: () => new Uint8Array(), ends: ['unreadable'] },
  { what: 'half a Word document', name: 'a.docx', make: () => word('<w:p/>').subarray(0, 200), ends: ['unreadable'] },
  {
    what: 'a bomb of one entry',
    name: 'a.docx',
    make: () =>
      officeFile({
        'word/document.xml': { type: WORD, content: body('') },
        'word/a.xml': { type: 'x/xml', content: blanks(200) },
      }),
    ends: ['too_large'],
  },
  {
    what: 'an entity of the system',
    name: 'a.docx',
    make: () =>
      officeFile({
        'word/document.xml': {
          type: WORD,
          content: '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>',
        },
      }),
    ends: ['unreadable'],
  },
  {
    what: 'an element of 200,000 attributes',
    name: 'a.docx',
    make: () => word(`<w:p ${attributes(200_000)}/>`),
    ends: ['too_large'],
  },
  {
    what: 'an element of HTML of 200,000 attributes',
    name: 'a.html',
    make: () => Buffer.from(`<html><body><p ${attributes(200_000)}>Hello</p>`),
    ends: ['too_large'],
  },
  {
    what: '100,000 bodies of HTML with an attribute each',
    name: 'a.html',
    make: () => Buffer.from(`<html>${Array.from({ length: 100_000 }, (_, at) => `<body a${at}=1>`).join('')}`),
    ends: ['too_large'],
  },
  {
    what: '100,000 cells of the same 100,000 letters',
    name: 'a.xlsx',
    make: () => sharedStrings(100_000, 100_000),
    ends: ['too_large'],
  },
  {
    what: 'a picture of 30,000 by 30,000 dots',
    name: 'a.png',
    make: () =>
      sharp({ create: { width: 30_000, height: 30_000, channels: 3, background: 'white' }, limitInputPixels: false })
        .png({ compressionLevel: 1 })
        .toBuffer(),
    ends: ['too_large'],
  },
  { what: 'zip files in zip files', name: 'a.docx', make: () => nestedZip(6), ends: ['unreadable', 'unsupported'] },
  { what: 'entities of entities', name: 'a.docx', make: entities, ends: ['unreadable'] },
  {
    what: '100,000 elements in each other',
    name: 'a.docx',
    make: () => word(`${'<w:p>'.repeat(100_000)}${'</w:p>'.repeat(100_000)}`),
    ends: ['too_large'],
  },
  {
    what: 'a million paragraphs',
    name: 'a.docx',
    make: () => word('<w:p><w:r><w:t>x</w:t></w:r></w:p>'.repeat(1_000_000)),
    ends: ['too_large'],
  },
  {
    what: '20,000 parts',
    name: 'a.docx',
    make: () =>
      officeFile(
        { 'word/document.xml': { type: WORD, content: body('') } },
        Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`word/${at}.xml`, strToU8('<a/>')])),
      ),
    ends: ['too_large'],
  },
  {
    what: 'ten cells more than there may be',
    name: 'a.xlsx',
    make: () => sheetOf(200_010, (at) => `<c><v>${at}</v></c>`),
    ends: ['too_large'],
  },
  {
    what: 'a million cells',
    name: 'a.xlsx',
    make: () => sheetOf(1_000_000, (at) => `<c><v>${at}</v></c>`),
    ends: ['too_large'],
  },
  {
    what: 'elements in elements of HTML',
    name: 'a.html',
    make: () => Buffer.from(`<html>${'<div>'.repeat(200_000)}`),
    ends: ['too_large', 'done'],
  },
  {
    what: 'a line of 32 million letters',
    name: 'a.txt',
    make: () => Buffer.alloc(32 << 20, 'a'),
    ends: ['done', 'too_large'],
  },
  {
    what: 'two million cells of text',
    name: 'a.csv',
    make: () => Buffer.from('a,b\n'.repeat(1_000_000)),
    ends: ['too_large'],
  },
  {
    what: 'a PNG that says it is larger than it is',
    name: 'a.png',
    make: () => lyingPng(60_000),
    ends: ['too_large', 'unreadable'],
  },
  { what: 'a PNG that says it is a little larger', name: 'a.png', make: () => lyingPng(4000), ends: ['unreadable'] },
  {
    what: 'a GIF of a screen of billions of dots',
    name: 'a.gif',
    make: () => lyingGif(3),
    ends: ['too_large', 'unreadable', 'done'],
  },
  {
    what: 'a picture of 100 million dots',
    name: 'a.png',
    make: () =>
      sharp({ create: { width: 10_000, height: 10_000, channels: 3, background: 'white' } })
        .png()
        .toBuffer(),
    ends: ['too_large'],
  },
  {
    what: 'half a JPEG',
    name: 'a.jpg',
    make: async () =>
      (
        await sharp({ create: { width: 900, height: 900, channels: 3, background: 'red' } })
          .jpeg()
          .toBuffer()
      ).subarray(0, 700),
    ends: ['unreadable'],
  },
];
