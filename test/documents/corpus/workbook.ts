import sharp from 'sharp';
import { officeFile, type TestPart } from '../../harness/office.ts';
import { ascii } from './people.ts';
import type { CorpusDocument, Planting } from './planting.ts';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const NS = `xmlns="${MAIN}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`;
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** A workbook with something in every place that the format has for text. */
export async function workbookOf(planting: Planting): Promise<CorpusDocument> {
  const { text } = planting;
  const shared = [
    ...text.table.flat(),
    text.heading,
    planting.sentence('shared string'),
    planting.sentence('shared string that no cell has'),
  ];
  const parts: Record<string, TestPart> = {
    'xl/workbook.xml': { type: 'spreadsheetml.sheet.main+xml', content: workbook(planting), relations: RELATIONS },
    'xl/sharedStrings.xml': {
      type: 'spreadsheetml.sharedStrings+xml',
      content: `<sst ${NS}>${shared.map((one, at) => (at === shared.length - 2 ? rich(one, planting) : `<si><t xml:space="preserve">${one}</t></si>`)).join('')}</sst>`,
    },
    'xl/styles.xml': { type: 'spreadsheetml.styles+xml', content: styles(planting) },
    'xl/worksheets/sheet1.xml': {
      type: 'spreadsheetml.worksheet+xml',
      content: firstSheet(planting, shared.length),
      relations: {
        rId1: ['comments', '../comments1.xml'],
        rId2: ['drawing', '../drawings/drawing1.xml'],
        rId3: ['table', '../tables/table1.xml'],
        rId4: ['hyperlink', `mailto:${planting.email('address of a link')}`],
      },
    },
    'xl/worksheets/sheet2.xml': { type: 'spreadsheetml.worksheet+xml', content: hiddenSheet(planting) },
    ...aside(planting),
    'xl/media/image1.png': {
      type: 'image/png',
      content: await sharp({ create: { width: 9, height: 9, channels: 3, background: '#123456' } })
        .withExif({ IFD0: { Artist: ascii(planting.name('EXIF of a picture')) } })
        .png()
        .toBuffer(),
    },
  };
  return {
    name: 'book.xlsx',
    mediaType: XLSX,
    bytes: officeFile(parts),
    scanned: false,
    ...planting.done([...text.table.flat(), text.heading]),
  };
}

const RELATIONS: Readonly<Record<string, readonly [string, string]>> = {
  rId1: ['worksheet', 'worksheets/sheet1.xml'],
  rId2: ['worksheet', 'worksheets/sheet2.xml'],
  rId3: ['sharedStrings', 'sharedStrings.xml'],
  rId4: ['styles', 'styles.xml'],
  rId5: ['pivotCacheDefinition', 'pivotCache/pivotCacheDefinition1.xml'],
  rId6: ['externalLink', 'externalLinks/externalLink1.xml'],
};

function workbook(planting: Planting): string {
  return (
    `<workbook ${NS}><fileSharing userName="${planting.name('user of a file')}"/><workbookPr codeName="${planting.name('code name').replace(' ', '')}"/>` +
    `<sheets><sheet name="${planting.name('name of a sheet').slice(0, 31)}" sheetId="1" r:id="rId1"/><sheet name="Data" sheetId="2" state="veryHidden" r:id="rId2"/></sheets>` +
    `<definedNames><definedName name="${planting.name('defined name').replace(' ', '_')}">Data!$A$1</definedName><definedName name="x" comment="${planting.entry('comment of a name')}">"${planting.entry('formula of a name')}"</definedName></definedNames>` +
    `<pivotCaches><pivotCache cacheId="1" r:id="rId5"/></pivotCaches><externalReferences><externalReference r:id="rId6"/></externalReferences></workbook>`
  );
}

/** A text in two formats, with how it is spoken. */
function rich(text: string, planting: Planting): string {
  const half = Math.floor(text.length / 2);
  return `<si><r><t xml:space="preserve">${text.slice(0, half)}</t></r><r><rPr><b/></rPr><t xml:space="preserve">${text.slice(half)}</t></r><rPh sb="0" eb="1"><t>${planting.name('how a text is spoken')}</t></rPh></si>`;
}

function styles(planting: Planting): string {
  return (
    `<styleSheet ${NS}><numFmts count="1"><numFmt numFmtId="170" formatCode="0 &quot;${planting.name('format of a number')}&quot;"/></numFmts>` +
    `<fonts count="1"><font><sz val="11"/><name val="${planting.name('name of a font')}"/></font></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders>` +
    `<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/><xf numFmtId="170" fontId="0" fillId="0" borderId="0"/></cellXfs>` +
    `<cellStyles count="1"><cellStyle name="${planting.name('name of a style')}" xfId="0"/></cellStyles><dxfs count="0"/><tableStyles count="1"><tableStyle name="${planting.name('style of a table')}"/></tableStyles></styleSheet>`
  );
}

function firstSheet(planting: Planting, strings: number): string {
  const { text } = planting;
  let row = 0;
  const line = (...cells: readonly string[]): string =>
    `<row r="${++row}">${cells.map((cell, at) => cell.replace('<c', `<c r="${'ABCDE'[at]}${row}"`)).join('')}</row>`;
  const inline = (value: string): string => `<c t="inlineStr"><is><t xml:space="preserve">${value}</t></is></c>`;
  const string = (index: number): string => `<c t="s"><v>${index}</v></c>`;
  const width = text.table[0]?.length ?? 0;
  const rows = [
    line(string(strings - 3)),
    ...text.table.map((cells, at) => line(...cells.map((_, column) => string(at * width + column)))),
    line(string(strings - 2), inline(planting.sentence('cell')), inline(planting.again())),
    line(
      `<c t="str"><f>"${planting.entry('text of a formula')}"&amp;A1</f><v>x</v></c>`,
      `<c t="str"><f>A1</f><v>${planting.entry('value of a formula')}</v></c>`,
      `<c><f>IF(A1="${planting.name('comparison of a formula')}",1,2)</f><v>2</v></c>`,
    ),
    line('<c s="1"><v>7</v></c>', inline(planting.again())),
  ];
  return (
    `<worksheet ${NS}><cols><col min="4" max="4" width="9" hidden="1"/></cols><sheetData>${rows.join('')}<row r="${row + 1}" hidden="1">${inline(planting.sentence('hidden row'))}</row></sheetData>` +
    `<protectedRanges><protectedRange name="${planting.name('protected range')}" sqref="A1"/></protectedRanges><scenarios><scenario name="${planting.name('scenario')}" user="${planting.name('user of a scenario')}"><inputCells r="A1" val="${planting.entry('value of a scenario')}"/></scenario></scenarios>` +
    `<autoFilter ref="A1:B9"><filterColumn colId="0"><filters><filter val="${planting.entry('filter')}"/></filters></filterColumn><filterColumn colId="1"><customFilters><customFilter val="*${planting.name("filter of one's own")}*"/></customFilters></filterColumn></autoFilter>` +
    `<conditionalFormatting sqref="A1"><cfRule type="containsText" priority="1" text="${planting.name('text of a rule')}"><formula>SEARCH("${planting.name('formula of a rule')}",A1)</formula></cfRule></conditionalFormatting>` +
    `<dataValidations count="1"><dataValidation type="list" sqref="B1" promptTitle="${planting.name('title of a prompt')}" prompt="${planting.entry('prompt')}" error="${planting.entry('error of a rule')}"><formula1>"a,${planting.name('list of choices')}"</formula1></dataValidation></dataValidations>` +
    `<hyperlinks><hyperlink ref="A1" r:id="rId4" tooltip="${planting.entry('tooltip')}" display="${planting.entry('text of a link')}"/><hyperlink ref="A2" location="'${planting.name('place of a link')}'!A1"/></hyperlinks>` +
    `<headerFooter><oddHeader>&amp;L${planting.sentence('header')}</oddHeader><oddFooter>&amp;C${planting.sentence('footer')}</oddFooter></headerFooter>` +
    `<drawing r:id="rId2"/><tableParts count="1"><tablePart r:id="rId3"/></tableParts><extLst><ext uri="{0}"><memo>${planting.sentence('extension')}</memo></ext></extLst></worksheet>`
  );
}

function hiddenSheet(planting: Planting): string {
  const rows = [planting.sentence('hidden sheet'), planting.email('cell of a hidden sheet')].map(
    (value, at) => `<row r="${at + 1}"><c r="A${at + 1}" t="inlineStr"><is><t>${value}</t></is></c></row>`,
  );
  return `<worksheet ${NS}><sheetData>${rows.join('')}</sheetData></worksheet>`;
}

/** Comments, tables, pivot tables, drawings, other files and properties. */
function aside(planting: Planting): Record<string, TestPart> {
  const A = 'http://schemas.openxmlformats.org/drawingml/2006/main';
  const XDR = 'http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing';
  const anchor =
    '<xdr:from><xdr:col>1</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>1</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from><xdr:to><xdr:col>3</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>5</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:to>';
  const text = (value: string): string =>
    `<xdr:txBody><a:bodyPr/><a:p><a:r><a:t>${value}</a:t></a:r></a:p></xdr:txBody>`;
  return {
    'xl/comments1.xml': {
      type: 'spreadsheetml.comments+xml',
      content: `<comments ${NS}><authors><author>${planting.name("comment's author")}</author></authors><commentList><comment ref="A1" authorId="0"><text><t>${planting.sentence('comment')}</t></text></comment></commentList></comments>`,
    },
    'xl/tables/table1.xml': {
      type: 'spreadsheetml.table+xml',
      content: `<table ${NS} id="1" name="${planting.name('name of a table').replace(' ', '')}" displayName="T" ref="A1:B2" comment="${planting.entry('comment of a table')}"><tableColumns count="1"><tableColumn id="1" name="${planting.entry('column of a table')}"/></tableColumns></table>`,
    },
    'xl/pivotCache/pivotCacheDefinition1.xml': {
      type: 'spreadsheetml.pivotCacheDefinition+xml',
      content: `<pivotCacheDefinition ${NS} refreshedBy="${planting.name('who refreshed')}"><cacheFields count="1"><cacheField name="a"><sharedItems><s v="${planting.entry('pivot cache')}"/></sharedItems></cacheField></cacheFields></pivotCacheDefinition>`,
    },
    'xl/externalLinks/externalLink1.xml': {
      type: 'spreadsheetml.externalLink+xml',
      content: `<externalLink ${NS}><externalBook><sheetNames><sheetName val="${planting.name('sheet of another file')}"/></sheetNames><sheetDataSet><sheetData sheetId="0"><row r="1"><cell r="A1" t="str"><v>${planting.entry('cell of another file')}</v></cell></row></sheetData></sheetDataSet></externalBook></externalLink>`,
    },
    'xl/drawings/drawing1.xml': {
      type: 'drawing+xml',
      content: `<xdr:wsDr xmlns:xdr="${XDR}" xmlns:a="${A}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><xdr:twoCellAnchor>${anchor}<xdr:sp macro="" textlink="${planting.name('link of a text')}"><xdr:nvSpPr><xdr:cNvPr id="2" name="${planting.name('name of a shape')}" descr="${planting.entry('alternative text')}"/><xdr:cNvSpPr/></xdr:nvSpPr><xdr:spPr/>${text(planting.sentence('text box'))}</xdr:sp><xdr:clientData/></xdr:twoCellAnchor><xdr:twoCellAnchor>${anchor}<xdr:pic><xdr:nvPicPr><xdr:cNvPr id="3" name="p"/><xdr:cNvPicPr/></xdr:nvPicPr><xdr:blipFill><a:blip r:embed="rId1"/></xdr:blipFill><xdr:spPr/></xdr:pic><xdr:clientData/></xdr:twoCellAnchor></xdr:wsDr>`,
      relations: { rId1: ['image', '../media/image1.png'] },
    },
    'xl/printerSettings/printerSettings1.bin': {
      type: 'spreadsheetml.printerSettings',
      content: Buffer.from(planting.sentence('settings of a printer'), 'utf16le'),
    },
    'docProps/core.xml': {
      type: 'application/vnd.openxmlformats-package.core-properties+xml',
      content: `<coreProperties><creator>${planting.name('creator')}</creator></coreProperties>`,
    },
  };
}
