import {
  CommentRangeEnd,
  CommentRangeStart,
  CommentReference,
  DeletedTextRun,
  Document,
  ExternalHyperlink,
  Footer,
  FootnoteReferenceRun,
  Header,
  ImageRun,
  InsertedTextRun,
  Packer,
  Paragraph,
  Table,
  TableCell,
  TableRow,
  TextRun,
} from 'docx';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import type { DocumentFile, RedactedDocument, TextUnit } from '#/ports/documents.ts';
import { officeFile, partsOf, stringsOf, type TestPart } from '../../../test/harness/office.ts';
import { picture, writtenPage } from '../../../test/harness/pictures.ts';
import type { Tools } from '../format.ts';
import { word } from './word.ts';

const tools: Tools = {
  recognize: () => Promise.reject(new Error('not wanted')),
  checkTime: () => {},
  onPages: () => {},
};
const MEDIA_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const W =
  'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
const MAIN = 'wordprocessingml.document.main+xml';

const fileOf = (bytes: Uint8Array): DocumentFile => ({ name: 'a.docx', mediaType: MEDIA_TYPE, bytes });
const textsOf = (units: readonly TextUnit[], visibility?: string): readonly string[] =>
  units.filter((unit) => !visibility || unit.visibility === visibility).map(({ text }) => text);
const read = async (bytes: Uint8Array): Promise<readonly TextUnit[]> =>
  (await word.read(fileOf(bytes), { recognize: 'never' }, tools)).units;
const faultOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'none',
    (error: unknown) => (error as { kind?: string }).kind ?? error,
  );

/** Replaces each original wherever it stands in a unit. */
async function anonymize(bytes: Uint8Array, tags: Readonly<Record<string, string>>): Promise<RedactedDocument> {
  const { units, layout } = await word.read(fileOf(bytes), { recognize: 'auto' }, tools);
  const replacements = units.flatMap(({ id, text }) =>
    Object.entries(tags).flatMap(([original, tag]) =>
      [...text.matchAll(new RegExp(original, 'g'))].map(({ index }) => ({
        unit: id,
        start: index,
        end: index + original.length,
        tag,
      })),
    ),
  );
  expect(replacements.length).toBeGreaterThan(0);
  return word.redact(fileOf(bytes), { layout, replacements, originals: Object.keys(tags) }, tools);
}

const body = (xml: string): string => `<?xml version="1.0"?><w:document ${W}><w:body>${xml}</w:body></w:document>`;
const p = (...runs: readonly string[]): string =>
  `<w:p>${runs.map((run) => `<w:r><w:t>${run}</w:t></w:r>`).join('')}</w:p>`;
const simple = (
  xml: string,
  relations: TestPart['relations'] = {},
  more: Readonly<Record<string, TestPart>> = {},
): Uint8Array => officeFile({ 'word/document.xml': { type: MAIN, content: body(xml), relations }, ...more });

const TAGS = { 'Ada Lovelace': '«PERSON_1»', 'ada@example.com': '«EMAIL_1»', 'Grace Hopper': '«PERSON_2»' };
const tracesIn = (bytes: Uint8Array): readonly string[] =>
  stringsOf(bytes).match(/\bada\b|lovelace|grace|hopper/gi) ?? [];

describe('a document as a word processor writes it', () => {
  const build = async (): Promise<Uint8Array> => {
    const photo = await picture(writtenPage(['ADA LOVELACE']))
      .withExif({ IFD0: { Artist: 'Grace Hopper' } })
      .jpeg()
      .toBuffer();
    const document = new Document({
      title: 'About Ada Lovelace',
      creator: 'Grace Hopper',
      lastModifiedBy: 'Ada Lovelace',
      keywords: 'ada@example.com',
      customProperties: [{ name: 'Owner', value: 'Ada Lovelace' }],
      comments: {
        children: [
          {
            id: 0,
            author: 'Grace Hopper',
            initials: 'GH',
            date: new Date(0),
            children: [new Paragraph('Ask Ada Lovelace')],
          },
        ],
      },
      footnotes: { 1: { children: [new Paragraph('See Grace Hopper')] } },
      sections: [
        {
          headers: { default: new Header({ children: [new Paragraph('Letter to Ada Lovelace')] }) },
          footers: { default: new Footer({ children: [new Paragraph('ada@example.com')] }) },
          children: [
            new Paragraph({
              children: [
                new TextRun('Dear Ada '),
                new TextRun({ text: 'Love', bold: true }),
                new TextRun('lace, hello'),
                new FootnoteReferenceRun(1),
              ],
            }),
            new Paragraph({
              children: [
                new CommentRangeStart(0),
                new TextRun('the ship'),
                new CommentRangeEnd(0),
                new TextRun({ children: [new CommentReference(0)] }),
              ],
            }),
            new Paragraph({
              children: [
                new InsertedTextRun({
                  text: 'by Grace Hopper',
                  id: 1,
                  author: 'Ada Lovelace',
                  date: '2020-01-01T00:00:00Z',
                }),
                new DeletedTextRun({
                  text: 'not Grace Hop',
                  id: 2,
                  author: 'Ada Lovelace',
                  date: '2020-01-01T00:00:00Z',
                }),
              ],
            }),
            new Paragraph({
              children: [
                new ExternalHyperlink({ link: 'mailto:ada@example.com', children: [new TextRun('write to her')] }),
                new ExternalHyperlink({ link: 'https://example.org/a', children: [new TextRun('a site')] }),
              ],
            }),
            new Table({
              rows: [
                new TableRow({
                  children: [
                    new TableCell({ children: [new Paragraph('Grace Hopper')] }),
                    new TableCell({ children: [new Paragraph('Admiral')] }),
                  ],
                }),
              ],
            }),
            new Paragraph({
              children: [
                new TextRun({ text: 'Ada Lovelace unseen', vanish: true }),
                new ImageRun({
                  type: 'jpg',
                  data: photo,
                  transformation: { width: 50, height: 50 },
                  altText: { name: 'ada.jpg', title: 'Portrait', description: 'Ada Lovelace at home' },
                }),
              ],
            }),
          ],
        },
      ],
    });
    return new Uint8Array(await Packer.toBuffer(document));
  };

  test('all of its text is read, visible first', async () => {
    const units = await read(await build());
    expect(textsOf(units, 'shown')).toEqual(
      expect.arrayContaining([
        'Dear Ada Lovelace, hello',
        'by Grace Hopper',
        'Letter to Ada Lovelace',
        'ada@example.com',
        'See Grace Hopper',
        'Admiral',
      ]),
    );
    expect(textsOf(units, 'hidden')).toEqual(
      expect.arrayContaining([
        'Ask Ada Lovelace',
        'not Grace Hop',
        'Ada Lovelace unseen',
        'Ada Lovelace at home',
        'mailto:ada@example.com',
        'About Ada Lovelace',
      ]),
    );
    const first = units.findIndex(({ visibility }) => visibility === 'hidden');
    expect(units.slice(first).every(({ visibility }) => visibility === 'hidden')).toBe(true);
  });

  test('nothing of a person is left in any part; all else is', async () => {
    const bytes = await build();
    expect(tracesIn(bytes).length).toBeGreaterThan(10);
    const redacted = await anonymize(bytes, TAGS);
    expect(redacted).toMatchObject({ mediaType: MEDIA_TYPE, images: 1, downgraded: false });
    expect(tracesIn(redacted.bytes)).toEqual([]);
    const units = await read(redacted.bytes);
    expect(textsOf(units)).toEqual(
      expect.arrayContaining([
        'Dear «PERSON_1», hello',
        'by «PERSON_2»',
        'Ask «PERSON_1»',
        'the ship',
        'Admiral',
        'write to hera site',
        'https://example.org/a',
        '«EMAIL_1»',
        'See «PERSON_2»',
      ]),
    );
    const parts = partsOf(redacted.bytes);
    expect(Object.keys(parts).filter((name) => /docProps|customXml|fontTable|people/.test(name))).toEqual([]);
    const document = parts['word/document.xml'] ?? '';
    expect(document).not.toMatch(/<w:(?:ins|del)[ >]|rsid|w:author/);
    // The tag has the formatting of the run in which the name began, the rest keeps its own.
    expect(document).toMatch(/<w:t[^>]*>Dear «PERSON_1»<\/w:t>/);
    expect(parts['word/comments1.xml']).toMatch(/w:author="Author 1"/);
    expect(parts['word/comments1.xml']).not.toMatch(/w:date|GH/);
  });

  test('every reference leads to a part, and every part has a type', async () => {
    const { bytes } = await anonymize(await build(), TAGS);
    const parts = partsOf(bytes);
    for (const [name, text] of Object.entries(parts)) {
      if (!name.endsWith('.rels')) continue;
      const folder = name.replace(/_rels\/[^/]*$/, '');
      for (const [, target = '', mode] of text.matchAll(/Target="([^"]*)"( TargetMode="External")?/g))
        if (!mode) expect(Object.keys(parts)).toContain(`${folder}${target}`);
      const ids = new Set([...text.matchAll(/ Id="([^"]*)"/g)].map(([, id]) => id));
      const owner = parts[name.replace('_rels/', '').replace(/\.rels$/, '')] ?? '';
      for (const [, id] of owner.matchAll(/ r:(?:id|embed|link)="([^"]*)"/g)) expect(ids).toContain(id);
    }
    for (const name of Object.keys(parts))
      if (/^word\/[^_].*\.xml$/.test(name)) expect(parts['[Content_Types].xml']).toContain(`PartName="/${name}"`);
  });
});

describe('places that a word processor rarely shows', () => {
  test('split, vanished, in boxes, fields, controls, charts, diagrams, properties and names: all are read, none is left', async () => {
    const bytes = simple(
      `<w:p><w:r><w:t>Ada Love</w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>xx</w:t></w:r><w:del w:author="Ada Lovelace"><w:r><w:delText>Grace Hopper</w:delText></w:r></w:del><w:r><w:t>lace</w:t></w:r></w:p>
      <w:p><w:r><w:t>Grace</w:t></w:r></w:p><w:p><w:r><w:t>Hopper</w:t></w:r></w:p>
      <w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "mailto:ada@exa</w:instrText></w:r><w:r><w:instrText>mple.com" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>mail</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>
      <w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>DDEAUTO c:\\cmd.exe</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:fldSimple w:instr="INCLUDETEXT x"><w:r><w:t>kept</w:t></w:r></w:fldSimple></w:p>
      <w:sdt><w:sdtPr><w:alias w:val="Ada Lovelace"/><w:tag w:val="Grace Hopper"/><w:dataBinding w:xpath="/Ada"/></w:sdtPr><w:sdtContent><w:p><w:r><w:t>in a control</w:t></w:r></w:p></w:sdtContent></w:sdt>
      <w:p><w:bookmarkStart w:id="1" w:name="Ada_Lovelace"/><w:bookmarkEnd w:id="1"/><w:hyperlink w:anchor="Ada_Lovelace" w:tooltip="Grace Hopper"><w:r><w:t>there</w:t></w:r></w:hyperlink></w:p>
      <w:p><w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml" alt="Ada Lovelace"><v:textpath string="Grace Hopper"/><v:textbox><w:txbxContent><w:p><w:r><w:t>box of Ada </w:t></w:r><w:r><w:t>Lovelace</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>
      <w:p><w:r><w:object><v:shape xmlns:v="urn:schemas-microsoft-com:vml"/><o:OLEObject xmlns:o="urn:schemas-microsoft-com:office:office" r:id="rId2"/></w:object></w:r><w:r><w:drawing><c:chart xmlns:c="c" r:id="rId1"/></w:drawing></w:r></w:p>
      <w:tbl><w:tr><w:trPr><w:del w:author="x"/></w:trPr><w:tc><w:p><w:r><w:t>gone row</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:p><w:r><w:t>kept row</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`,
      {
        rId1: ['chart', 'charts/chart1.xml'],
        rId2: ['oleObject', 'embeddings/Ada.bin'],
        rId3: ['glossaryDocument', 'glossary/document.xml'],
        rId4: ['customXml', '../customXml/item1.xml'],
        rId5: ['settings', 'settings.xml'],
        rId6: ['image', 'media/Ada Lovelace.emf'],
      },
      {
        'word/charts/chart1.xml': {
          type: 'drawingml.chart+xml',
          content:
            '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><c:v>Ada Lovelace</c:v><c:externalData r:id="rId1"/></c:chartSpace>',
          relations: { rId1: ['package', '../embeddings/book.xlsx'] },
        },
        'word/embeddings/Ada.bin': { type: 'oleObject', content: 'Ada Lovelace' },
        'word/embeddings/book.xlsx': { type: 'package', content: 'PK Ada Lovelace' },
        'word/glossary/document.xml': {
          type: 'wordprocessingml.document.glossary+xml',
          content: body(p('Grace Hopper')),
        },
        'word/settings.xml': {
          type: 'wordprocessingml.settings+xml',
          content: `<w:settings ${W}><w:rsids><w:rsid w:val="00AB"/></w:rsids><w:docVars><w:docVar w:name="a" w:val="Ada Lovelace"/></w:docVars><w:zoom w:percent="90"/></w:settings>`,
        },
        'word/media/Ada Lovelace.emf': { type: 'image/x-emf', content: 'Ada Lovelace' },
        'customXml/item1.xml': { type: 'application/xml', content: '<a>Grace Hopper</a>' },
        'docProps/custom.xml': {
          type: 'custom-properties+xml',
          content: '<a><property name="Ada Lovelace"><lpwstr>Grace Hopper</lpwstr></property></a>',
        },
      },
    );
    const units = await read(bytes);
    expect(textsOf(units, 'shown')).toEqual(
      expect.arrayContaining(['Ada Lovelace', 'mail', 'in a control', 'box of Ada Lovelace', 'Grace Hopper']),
    );
    expect(textsOf(units, 'hidden')).toEqual(
      expect.arrayContaining(['xx', ' HYPERLINK "mailto:ada@example.com" ', 'Ada_Lovelace']),
    );
    const { bytes: result } = await anonymize(bytes, TAGS);
    expect(tracesIn(result)).toEqual([]);
    const document = partsOf(result)['word/document.xml'] ?? '';
    expect(document).not.toMatch(/DDE|INCLUDETEXT|OLEObject|dataBinding|gone row|xx.*delText/);
    expect(document).toMatch(/kept row/);
    expect(document).toMatch(/w:anchor="PERSON_1"|w:anchor="«PERSON_1»"/);
    expect(partsOf(result)['word/settings1.xml']).toMatch(/<w:zoom w:percent="90"\/><\/w:settings>/);
    expect(Object.keys(partsOf(result)).filter((name) => /embed|gloss|custom|emf/.test(name))).toEqual([]);
  });

  test('a name that is left in the name of an element is not given out', async () => {
    for (const hidden of ['<AdaLovelace/>', '<Ada.Lovelace:x xmlns:Ada.Lovelace="urn:x"/>']) {
      const bytes = simple(`${p('Ada Lovelace')}${hidden}`);
      expect(await faultOf(anonymize(bytes, TAGS))).toBe('redaction_failed');
    }
  });
});

describe('hostile files end in their fault', () => {
  const deep = (depth: number): string => `${'<w:sdt>'.repeat(depth)}${'</w:sdt>'.repeat(depth)}`;
  const cut = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, bytes.length - 200);
  const withPart = (content: string | Uint8Array, name = 'word/header1.xml'): Uint8Array =>
    simple(p('x'), {}, { [name]: { type: 'wordprocessingml.header+xml', content } });
  const double = (bytes: Uint8Array): Uint8Array => {
    const file = Buffer.from(zipSync({ 'aa.xml': strToU8('<a/>'), 'ab.xml': strToU8('<a/>') }));
    for (let at = file.indexOf('ab.xml'); at >= 0; at = file.indexOf('ab.xml')) file.write('aa.xml', at);
    return bytes.length > 0 ? file : bytes;
  };
  const wide = (text: string, encoding: string): Buffer =>
    Buffer.from(`\ufeff<?xml version="1.0" encoding="${encoding}"?>${text}`, 'utf16le');

  test.each([
    ['cut', () => cut(simple(p('x'))), 'unreadable'],
    [
      'a bomb',
      () =>
        officeFile({
          'word/document.xml': { type: MAIN, content: body(p('x')) },
          'word/a.xml': { type: 'wordprocessingml.header+xml', content: new Uint8Array(12_000_000).fill(32) },
        }),
      'too_large',
    ],
    ['a DOCTYPE', () => withPart('<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'), 'unreadable'],
    ['an unknown entity', () => withPart('<a>&b;</a>'), 'unreadable'],
    ['deep', () => simple(deep(2000)), 'too_large'],
    ['names twice', () => double(simple('')), 'unreadable'],
    ['a path', () => withPart('<a/>', 'word/../../etc/x.xml'), 'unreadable'],
    ['an archive as XML', () => withPart('PK\u0003\u0004'), 'unreadable'],
    ['UTF-7', () => withPart('<?xml version="1.0" encoding="utf-7"?><a/>'), 'unreadable'],
    ['UTF-16 that says UTF-7', () => withPart(wide('<a/>', 'utf-7')), 'unreadable'],
    ['no XML', () => withPart('Hello'), 'unreadable'],
    ['two roots', () => withPart('<a/><b/>'), 'unreadable'],
    ['a name twice in an element', () => withPart('<a b="1" b="2"/>'), 'unreadable'],
    [
      'macros by name',
      () => simple(p('x'), {}, { 'word/vbaProject.bin': { type: 'x/y', content: 'x' } }),
      'active_content',
    ],
    [
      'another document in it',
      () => simple('<w:altChunk r:id="rId1"/>', { rId1: ['aFChunk', 'a.html'] }),
      'unsupported',
    ],
    ['no main part', () => zipSync({ '[Content_Types].xml': strToU8('<Types/>'), a: strToU8('a') }), 'unreadable'],
    [
      'many entries',
      () => zipSync(Object.fromEntries(Array.from({ length: 2100 }, (_, index) => [`a${index}`, new Uint8Array()]))),
      'too_large',
    ],
  ])('%s', async (_name, build, kind) => {
    expect(await faultOf(read(build()))).toBe(kind);
  });

  test('UTF-16 and Latin-1 are read as what they are', async () => {
    expect(textsOf(await read(withPart(wide('<a>Zo\u00eb</a>', 'UTF-16'))))).toContain('Zo\u00eb');
    const latin = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>Zo\u00eb</a>', 'latin1');
    expect(textsOf(await read(withPart(latin)))).toContain('Zo\u00eb');
  });

  test('a layout of another document is refused', async () => {
    const file = fileOf(simple(p('x')));
    const redact = (layout: string, unit: string, end = 1): Promise<unknown> =>
      faultOf(word.redact(file, { layout, replacements: [{ unit, start: 0, end, tag: 'T' }], originals: [] }, tools));
    const { layout } = await word.read(file, { recognize: 'never' }, tools);
    expect(await redact('{}', '0')).toBe('unreadable');
    expect(await redact(layout, '7')).toBe('unreadable');
    expect(await redact(layout, '0', 2)).toBe('unreadable');
    expect(await redact(layout, '0')).toBe('none');
  });
});
