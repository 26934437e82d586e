import { describe, expect, test } from 'vitest';
import type { DocumentFile, RedactedDocument, TextUnit } from '#/ports/documents.ts';
import { officeFile, partsOf, stringsOf, type TestPart } from '../../../test/harness/office.ts';
import { picture, writtenPage } from '../../../test/harness/pictures.ts';
import type { Tools } from '../format.ts';
import { spreadsheet } from './spreadsheet.ts';

const tools: Tools = {
  recognize: () => Promise.reject(new Error('not wanted')),
  checkTime: () => {},
  onPages: () => {},
};
const MEDIA_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const S =
  'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
const A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"';

const fileOf = (bytes: Uint8Array): DocumentFile => ({ name: 'a.xlsx', mediaType: MEDIA_TYPE, bytes });
const textsOf = (units: readonly TextUnit[], visibility?: string): readonly string[] =>
  units.filter((unit) => !visibility || unit.visibility === visibility).map(({ text }) => text);
const read = async (bytes: Uint8Array): Promise<readonly TextUnit[]> =>
  (await spreadsheet.read(fileOf(bytes), { recognize: 'never' }, tools)).units;

async function anonymize(bytes: Uint8Array, tags: Readonly<Record<string, string>>): Promise<RedactedDocument> {
  const { units, layout } = await spreadsheet.read(fileOf(bytes), { recognize: 'auto' }, tools);
  const replacements = units.flatMap(({ id, text }) =>
    Object.entries(tags).flatMap(([original, tag]) => {
      const start = text.indexOf(original);
      return start < 0 ? [] : [{ unit: id, start, end: start + original.length, tag }];
    }),
  );
  expect(replacements.length).toBeGreaterThan(0);
  return spreadsheet.redact(fileOf(bytes), { layout, replacements, originals: Object.keys(tags) }, tools);
}

const sheet = (rows: string, rest = '', before = ''): string =>
  `<?xml version="1.0"?><worksheet ${S}>${before}<sheetData>${rows}</sheetData>${rest}</worksheet>`;
const STYLES = `<?xml version="1.0"?><styleSheet ${S}><numFmts count="1"><numFmt numFmtId="164" formatCode="0000\\ 0000\\ 0000\\ 0000"/></numFmts><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/></cellXfs></styleSheet>`;
const workbook = (sheets: string, rest = ''): string =>
  `<?xml version="1.0"?><workbook ${S}><sheets>${sheets}</sheets>${rest}</workbook>`;
const type = (name: string): string => `spreadsheetml.${name}+xml`;

/** A workbook of one sheet with these rows. */
const simple = (rows: string): Uint8Array =>
  officeFile({
    'xl/workbook.xml': {
      type: type('sheet.main'),
      content: workbook('<sheet name="One" sheetId="1" r:id="rId1"/>'),
      relations: { rId1: ['worksheet', 'worksheets/sheet1.xml'], rId2: ['styles', 'styles.xml'] },
    },
    'xl/worksheets/sheet1.xml': { type: type('worksheet'), content: sheet(rows) },
    'xl/styles.xml': { type: type('styles'), content: STYLES },
  });

async function full(): Promise<Uint8Array> {
  const photo = await picture(writtenPage(['ADA LOVELACE']))
    .png()
    .toBuffer();
  const parts: Record<string, TestPart> = {
    'xl/workbook.xml': {
      type: type('sheet.main'),
      content: workbook(
        '<sheet name="Ada Lovelace" sheetId="1" r:id="rId1"/><sheet name="Secret" sheetId="2" state="veryHidden" r:id="rId2"/>',
        `<externalReferences><externalReference r:id="rId7"/></externalReferences><definedNames><definedName name="Boss">'Ada Lovelace'!$A$1</definedName><definedName name="Tax" comment="Grace Hopper">Secret!$B$1</definedName></definedNames><pivotCaches><pivotCache cacheId="1" r:id="rId8"/></pivotCaches>`,
      ),
      relations: {
        rId1: ['worksheet', 'worksheets/sheet1.xml'],
        rId2: ['worksheet', 'worksheets/sheet2.xml'],
        rId3: ['styles', 'styles.xml'],
        rId4: ['sharedStrings', 'sharedStrings.xml'],
        rId5: ['http://schemas.microsoft.com/office/2017/10/relationships/person', 'persons/person.xml'],
        rId6: ['connections', 'connections.xml'],
        rId7: ['externalLink', 'externalLinks/externalLink1.xml'],
        rId8: ['pivotCacheDefinition', 'pivotCache/def.xml'],
      },
    },
    'xl/sharedStrings.xml': {
      type: type('sharedStrings'),
      content: `<?xml version="1.0"?><sst ${S}><si><t>Ada Lovelace</t></si><si><r><rPr><b/></rPr><t>Grace </t></r><r><t>Hop</t></r><r><t>per, Navy</t></r></si><si><t>unused Ada Lovelace</t></si><si><t>plain</t><rPh sb="0" eb="1"><t>Grace Hopper</t></rPh></si></sst>`,
    },
    'xl/styles.xml': { type: type('styles'), content: STYLES },
    'xl/worksheets/sheet1.xml': {
      type: type('worksheet'),
      content: sheet(
        `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>call ada@example.com</t></is></c><c r="D1" t="s"><v>3</v></c></row>
        <row r="2"><c r="A2" s="1"><v>4111111111111111</v></c><c r="B2" s="2"><v>44197</v></c><c r="C2"><f>A2*2</f><v>7</v></c><c r="D2"><v>4.915112345678E12</v></c></row>
        <row r="3"><c r="A3" t="str"><f>"Dear "&amp;"Ada Lovelace"</f><v>Dear Ada Lovelace</v></c><c r="B3"><f>[1]Sheet1!A1</f><v>9</v></c><c r="C3"><f>'Ada Lovelace'!C2</f><v>11</v></c></row>
        <row r="4"><c r="A4" t="inlineStr"><is><t>Ada</t></is></c><c r="B4" t="inlineStr"><is><t>Lovelace</t></is></c><c r="C4" t="b"><v>1</v></c></row>`,
        `<dataValidations count="1"><dataValidation type="list" prompt="Ask Grace Hopper" sqref="A1"><formula1>"Ada Lovelace,Grace Hopper"</formula1></dataValidation></dataValidations>
        <hyperlinks><hyperlink ref="C1" r:id="rId1" tooltip="ada@example.com" display="x"/><hyperlink ref="D1" r:id="rId2"/></hyperlinks><headerFooter><oddHeader>&amp;LAda Lovelace</oddHeader></headerFooter><drawing r:id="rId3"/><legacyDrawing r:id="rId4"/><tableParts count="1"><tablePart r:id="rId6"/></tableParts>`,
      ),
      relations: {
        rId1: ['hyperlink', 'mailto:ada%40example.com'],
        rId2: ['hyperlink', 'https://example.org/'],
        rId3: ['drawing', '../drawings/drawing1.xml'],
        rId4: ['vmlDrawing', '../drawings/vml.vml'],
        rId5: ['comments', '../comments1.xml'],
        rId6: ['table', '../tables/table1.xml'],
        rId7: [
          'http://schemas.microsoft.com/office/2017/10/relationships/threadedComment',
          '../threadedComments/t1.xml',
        ],
      },
    },
    'xl/worksheets/sheet2.xml': {
      type: type('worksheet'),
      content: sheet('<row r="1"><c r="A1" t="s"><v>0</v></c></row>'),
    },
    'xl/drawings/drawing1.xml': {
      type: 'drawing+xml',
      content: `<?xml version="1.0"?><xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" ${A} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><xdr:twoCellAnchor><xdr:sp><xdr:nvSpPr><xdr:cNvPr id="2" name="Box" descr="Ada Lovelace"/></xdr:nvSpPr><xdr:txBody><a:p><a:r><a:t>Grace </a:t></a:r><a:r><a:t>Hopper</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:twoCellAnchor><xdr:twoCellAnchor><xdr:pic><xdr:blipFill><a:blip r:embed="rId1"/></xdr:blipFill></xdr:pic></xdr:twoCellAnchor><xdr:twoCellAnchor><xdr:graphicFrame><a:graphic><c:chart xmlns:c="c" r:id="rId2"/></a:graphic></xdr:graphicFrame></xdr:twoCellAnchor></xdr:wsDr>`,
      relations: { rId1: ['image', '../media/image1.png'], rId2: ['chart', '../charts/chart1.xml'] },
    },
    'xl/charts/chart1.xml': {
      type: 'drawingml.chart+xml',
      content: `<?xml version="1.0"?><c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:f>'Ada Lovelace'!$A$1</c:f><c:strCache><c:pt idx="0"><c:v>Grace Hopper</c:v></c:pt></c:strCache></c:chartSpace>`,
    },
    'xl/media/image1.png': { type: 'image/png', content: photo },
    'xl/drawings/vml.vml': { type: 'vmlDrawing', content: '<xml><br>Grace Hopper</xml>' },
    'xl/comments1.xml': {
      type: type('comments'),
      content: `<?xml version="1.0"?><comments ${S}><authors><author>Grace Hopper</author></authors><commentList><comment ref="A1" authorId="0"><text><t>is Ada Lovelace</t></text></comment></commentList></comments>`,
    },
    'xl/threadedComments/t1.xml': {
      type: 'application/vnd.ms-excel.threadedcomments+xml',
      content:
        '<?xml version="1.0"?><ThreadedComments><threadedComment><text>Grace Hopper</text></threadedComment></ThreadedComments>',
    },
    'xl/persons/person.xml': {
      type: 'application/vnd.ms-excel.person+xml',
      content:
        '<?xml version="1.0"?><personList><person displayName="Grace Hopper" userId="ada@example.com"/></personList>',
    },
    'xl/connections.xml': {
      type: type('connections'),
      content: `<?xml version="1.0"?><connections ${S}><connection name="Ada Lovelace"/></connections>`,
    },
    'xl/externalLinks/externalLink1.xml': {
      type: type('externalLink'),
      content: `<?xml version="1.0"?><externalLink ${S}><v>Ada Lovelace</v></externalLink>`,
    },
    'xl/pivotCache/def.xml': {
      type: type('pivotCacheDefinition'),
      content: `<?xml version="1.0"?><pivotCacheDefinition ${S} refreshedBy="Ada Lovelace"/>`,
    },
    'xl/tables/table1.xml': {
      type: type('table'),
      content: `<?xml version="1.0"?><table ${S} displayName="T"><tableColumns><tableColumn name="Ada Lovelace"/></tableColumns></table>`,
    },
    'docProps/core.xml': {
      type: 'application/vnd.openxmlformats-package.core-properties+xml',
      content: '<?xml version="1.0"?><p><c>Ada Lovelace</c></p>',
    },
  };
  return officeFile(parts);
}

const TAGS = {
  'Ada Lovelace': '«PERSON_1»',
  'Grace Hopper': '«PERSON_2»',
  'ada@example.com': '«EMAIL_1»',
  '4111 1111 1111 1111': '«CARD_1»',
  '2021-01-01': '«DATE_1»',
  '4915112345678': '«PHONE_1»',
};

describe('a workbook with personal data in every place', () => {
  test('cells are read as they are shown, sheet by sheet; hidden sheets and parts are hidden', async () => {
    const bytes = await full();
    const { units, pages, images } = await spreadsheet.read(fileOf(bytes), { recognize: 'never' }, tools);
    expect([pages, images]).toEqual([2, 1]);
    const shown = textsOf(units, 'shown');
    expect(shown.slice(0, 8)).toEqual([
      'Ada Lovelace',
      'Grace Hopper, Navy',
      'call ada@example.com',
      'plain',
      '4111 1111 1111 1111',
      '2021-01-01',
      '7',
      '4915112345678',
    ]);
    expect(shown).toEqual(expect.arrayContaining(['&LAda Lovelace', 'Grace Hopper', 'TRUE']));
    expect(units.find(({ page }) => page === 1)?.visibility).toBe('hidden');
    expect(textsOf(units, 'hidden')).toEqual(
      expect.arrayContaining(['is Ada Lovelace', 'mailto:ada@example.com', 'Secret']),
    );
  });

  test('nothing of them is left in any part; the rest is', async () => {
    const redacted = await anonymize(await full(), TAGS);
    const strings = stringsOf(redacted.bytes);
    expect(strings.match(/\bada\b|lovelace|grace|hopper|4111\s?1111|44197|4915112/gi) ?? []).toEqual([]);
    const units = await read(redacted.bytes);
    expect(textsOf(units, 'shown')).toEqual(
      expect.arrayContaining([
        '«PERSON_1»',
        '«PERSON_2», Navy',
        'call «EMAIL_1»',
        'plain',
        '«CARD_1»',
        '«DATE_1»',
        '«PHONE_1»',
        'Dear «PERSON_1»',
        '7',
        '9',
        '11',
      ]),
    );
    const parts = partsOf(redacted.bytes);
    expect(
      Object.keys(parts).filter((name) =>
        /comment|person|shared|table|pivot|external|connection|vml|docProps/i.test(name),
      ),
    ).toEqual([]);
    const first = parts['xl/worksheets/sheet1.xml'] ?? '';
    expect(first.match(/<f>[^<]*/g)).toEqual(['<f>A2*2']);
    expect(first).not.toMatch(/legacyDrawing|tablePart/);
    expect(parts['xl/workbook.xml']).toMatch(/name="«PERSON_1»"/);
    expect(parts['xl/workbook.xml']).not.toMatch(/pivotCaches|externalReferences|Boss/);
    expect(redacted).toMatchObject({ pages: 2, images: 1, mediaType: MEDIA_TYPE });
  });
});

test('an original that was not told in any unit is found all the same', async () => {
  const bytes = simple(
    '<row r="1"><c r="A1"><v>4111111111111111</v></c><c r="B1" t="inlineStr"><is><t>Ada Lovelace</t></is></c></row>',
  );
  const { layout } = await spreadsheet.read(fileOf(bytes), { recognize: 'never' }, tools);
  const redacted = await spreadsheet.redact(
    fileOf(bytes),
    { layout, replacements: [], originals: ['4111 1111 1111 1111', 'ada lovelace'] },
    tools,
  );
  expect(stringsOf(redacted.bytes)).not.toMatch(/4111|lovelace/i);
});
