import { officeFile, type TestPart } from '../../harness/office.ts';
import { addressOf, apart } from './disguises.ts';
import { photo } from './photo.ts';
import type { CorpusDocument, Planting } from './planting.ts';

const W = [
  'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"',
  'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"',
  'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"',
  'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"',
  'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"',
  'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"',
  'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:own="urn:example:own"',
].join(' ');
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

const run = (text: string, properties = ''): string =>
  `<w:r>${properties && `<w:rPr>${properties}</w:rPr>`}<w:t xml:space="preserve">${text}</w:t></w:r>`;
const paragraph = (...content: readonly string[]): string => `<w:p>${content.join('')}</w:p>`;
const field = (instruction: string, result: string): string =>
  `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> ${instruction} </w:instrText></w:r>` +
  `<w:r><w:fldChar w:fldCharType="separate"/></w:r>${run(result)}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;

/** A Word document with something in every place that the format has for text. */
export async function wordDocument(planting: Planting): Promise<CorpusDocument> {
  const { text } = planting;
  const shown = [text.heading, ...text.paragraphs, ...text.list, ...text.table.flat()];
  const parts: Record<string, TestPart> = {
    'word/document.xml': {
      type: 'wordprocessingml.document.main+xml',
      content: `<w:document ${W} xmlns:who="urn:example:${planting.email('namespace')}"><w:body>${body(planting)}<w:sectPr><w:headerReference r:id="rId1" w:type="default"/><w:footerReference r:id="rId2" w:type="default"/></w:sectPr></w:body></w:document>`,
      relations: RELATIONS,
    },
    ...furniture(planting),
    ...hiddenParts(planting),
    'word/media/photo.jpg': { type: 'image/jpeg', content: await photo(planting) },
  };
  const bytes = officeFile(parts, { 'docProps/thumbnail.jpeg': await photo(planting) });
  return { name: 'letter.docx', mediaType: DOCX, bytes, scanned: false, ...planting.done(shown) };
}

const RELATIONS: Readonly<Record<string, readonly [string, string]>> = {
  rId1: ['header', 'header1.xml'],
  rId2: ['footer', 'footer1.xml'],
  rId3: ['footnotes', 'footnotes.xml'],
  rId4: ['endnotes', 'endnotes.xml'],
  rId5: ['comments', 'comments.xml'],
  rId6: ['styles', 'styles.xml'],
  rId7: ['numbering', 'numbering.xml'],
  rId8: ['settings', 'settings.xml'],
  rId9: ['glossaryDocument', 'glossary/document.xml'],
  rId10: ['image', 'media/photo.jpg'],
  rId11: ['oleObject', 'embeddings/object.bin'],
  rId12: ['customXml', '../customXml/item1.xml'],
  rId13: ['hyperlink', 'https://example.org/'],
  rId14: ['theme', 'theme/theme1.xml'],
  rId15: ['chart', 'charts/chart1.xml'],
};

function body(planting: Planting): string {
  const { text } = planting;
  return [
    paragraph('<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>', run(text.heading)),
    paragraph(run(planting.sentence('paragraph'))),
    ...text.paragraphs.map((one) => paragraph(run(one))),
    paragraph(run(planting.again())),
    paragraph(...split(planting.sentence('runs')).map((piece, at) => run(piece, at % 2 ? '<w:b/>' : ''))),
    paragraph(run(planting.sentence('hidden run'), '<w:vanish/>')),
    paragraph(
      `<w:ins w:id="1" w:author="${planting.name('author of an insertion')}" w:date="2024-01-01T00:00:00Z">${run(planting.sentence('insertion'))}</w:ins>`,
      `<w:del w:id="2" w:author="x"><w:r><w:delText>${planting.sentence('deletion')}</w:delText></w:r></w:del>`,
    ),
    ...text.list.map((item) =>
      paragraph('<w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>', run(item)),
    ),
    paragraph(
      `<w:commentRangeStart w:id="0"/>${run('x')}<w:commentRangeEnd w:id="0"/><w:r><w:commentReference w:id="0"/></w:r>`,
      '<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:endnoteReference w:id="2"/></w:r>',
    ),
    paragraph(
      `<w:bookmarkStart w:id="3" w:name="${planting.name('bookmark').replace(' ', '_')}"/><w:bookmarkEnd w:id="3"/>`,
    ),
    paragraph(
      field(`HYPERLINK "mailto:${planting.email('instruction of a field')}"`, planting.entry('result of a field')),
    ),
    paragraph(field(`HYPERLINK "${escaped(addressOf(planting.entry('query of a field')))}"`, 'x')),
    paragraph(run(escaped(addressOf(planting.entry('query of an address'))))),
    paragraph(run(apart(planting.name('letters apart')))),
    paragraph(`<w:r>${signs(planting.name('signs of a font'))}</w:r>`),
    ...brokenAddress(planting),
    paragraph(field(`DOCPROPERTY "${planting.name('property of a field')}"`, 'x')),
    paragraph(
      `<w:r><w:fldChar w:fldCharType="begin"><w:fldData xml:space="preserve">${Buffer.from(planting.sentence('data of a field')).toString('base64')}</w:fldData></w:fldChar></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`,
    ),
    formFields(planting),
    paragraph(`<w:hyperlink r:id="rId13" w:tooltip="${planting.entry('tooltip')}">${run('link')}</w:hyperlink>`),
    control(planting),
    paragraph(drawing(planting)),
    paragraph(textBox(planting)),
    paragraph(
      `<w:r><w:ruby><w:rt>${run(planting.name('ruby'))}</w:rt><w:rubyBase>${run('x')}</w:rubyBase></w:ruby></w:r>`,
    ),
    paragraph(
      `<w:r><w:object><o:OLEObject Type="Embed" ProgID="${planting.name('name of a program')}" r:id="rId11"/></w:object></w:r>`,
    ),
    `<!-- ${planting.sentence('comment of XML')} --><?note ${planting.entry('instruction of XML')}?>`,
    `<w:tbl><w:tblPr><w:tblCaption w:val="${planting.entry('caption of a table')}"/><w:tblDescription w:val="${planting.entry('description of a table')}"/></w:tblPr>${[...text.table, [planting.entry('cell'), planting.again()]].map((row) => `<w:tr>${row.map((cell) => `<w:tc>${paragraph(run(cell))}</w:tc>`).join('')}</w:tr>`).join('')}</w:tbl>`,
    paragraph(`<w:pPr><own:memo own:by="${planting.entry('attribute of a stranger')}"/></w:pPr>`, run('end')),
    paragraph(`<own:memo>${planting.sentence('element of a stranger')}</own:memo>`),
  ].join('');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;');
}

/** A text of which each letter is a sign of a font. */
function signs(text: string): string {
  const code = (letter: string): string => letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return Array.from(text, (letter) => `<w:sym w:font="Arial" w:char="${code(letter)}"/>`).join('');
}

/** An address of mail that goes on in the next paragraph. */
function brokenAddress(planting: Planting): readonly string[] {
  const address = planting.email('address over two paragraphs');
  const half = address.indexOf('@') + 3;
  return [paragraph(run(`${address.slice(0, half)}-`)), paragraph(run(`${address.slice(half)} x`))];
}

function split(text: string): readonly string[] {
  return text.match(/[^]{1,7}/g) ?? [];
}

function formFields(planting: Planting): string {
  return paragraph(
    `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="${planting.name('name of a form field').replace(' ', '')}"/>` +
      `<w:helpText w:val="${planting.entry('help of a form field')}"/><w:statusText w:val="${planting.entry('status of a form field')}"/>` +
      `<w:textInput><w:default w:val="${planting.entry('default of a form field')}"/></w:textInput></w:ffData></w:fldChar></w:r>` +
      `<w:r><w:instrText>FORMTEXT</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${run(planting.entry('form field'))}<w:r><w:fldChar w:fldCharType="end"/></w:r>`,
  );
}

function control(planting: Planting): string {
  return (
    `<w:sdt><w:sdtPr><w:alias w:val="${planting.entry('title of a control')}"/><w:tag w:val="${planting.email('tag of a control')}"/>` +
    `<w:dropDownList w:lastValue="${planting.email('last value of a control')}"><w:listItem w:displayText="${planting.entry('choice of a control')}" w:value="${planting.email('value of a choice')}"/></w:dropDownList>` +
    `<w:dataBinding w:xpath="/a[@who='${planting.name('binding')}']" w:storeItemID="{0}"/></w:sdtPr><w:sdtContent>${paragraph(run(planting.sentence('control')))}</w:sdtContent></w:sdt>`
  );
}

function drawing(planting: Planting): string {
  return (
    `<w:r><w:drawing><wp:inline><wp:extent cx="900000" cy="900000"/><wp:docPr id="7" name="${planting.name('name of a picture')}" descr="${planting.entry('alternative text')}" title="${planting.entry('title of a picture')}"/>` +
    `<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="1" name="${planting.name('file of a picture')}.jpg"/><pic:cNvPicPr/></pic:nvPicPr>` +
    `<pic:blipFill><a:blip r:embed="rId10"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`
  );
}

function textBox(planting: Planting): string {
  const box = `<w:txbxContent>${paragraph(run(planting.sentence('text box')))}</w:txbxContent>`;
  return (
    `<w:r><w:pict><v:shape id="${planting.name('name of a shape').replace(' ', '_')}" o:spid="_x0000_s1" o:gfxdata="${Buffer.from(planting.sentence('copy of a drawing')).toString('base64')}" alt="${planting.entry('alternative text of a shape')}" style="width:200pt;height:40pt">` +
    `<v:textpath string="${planting.entry('text on a path')}"/><v:textbox>${box}</v:textbox></v:shape></w:pict></w:r>`
  );
}

/** Parts that are kept: what stands around the text, and how it looks. */
function furniture(planting: Planting): Record<string, TestPart> {
  const part = (name: string, type: string, inner: string): TestPart => ({
    type: `wordprocessingml.${type}+xml`,
    content: `<w:${name} ${W}>${inner}</w:${name}>`,
  });
  const note = (name: string): string => `<w:${name} w:id="2">${paragraph(run(planting.sentence(name)))}</w:${name}>`;
  return {
    'word/header1.xml': part('hdr', 'header', paragraph(run(planting.sentence('header')))),
    'word/footer1.xml': part('ftr', 'footer', paragraph(run(planting.sentence('footer')))),
    'word/footnotes.xml': part('footnotes', 'footnotes', note('footnote')),
    'word/endnotes.xml': part('endnotes', 'endnotes', note('endnote')),
    'word/comments.xml': part(
      'comments',
      'comments',
      `<w:comment w:id="0" w:author="${planting.name("comment's author")}" w:initials="${planting.name("author's initials")}" w:date="2024-01-01T00:00:00Z">${paragraph(run(planting.sentence('comment')))}</w:comment>`,
    ),
    'word/styles.xml': part(
      'styles',
      'styles',
      `<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style><w:style w:type="paragraph" w:styleId="${planting.name('identifier of a style').replace(' ', '')}"><w:name w:val="${planting.name('name of a style')}"/><w:aliases w:val="${planting.name('other name of a style')}"/><w:rPr><w:rFonts w:ascii="${planting.name('name of a font')}"/></w:rPr></w:style>`,
    ),
    'word/numbering.xml': part(
      'numbering',
      'numbering',
      `<w:abstractNum w:abstractNumId="0"><w:name w:val="${planting.name('name of a list')}"/><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="${planting.name('text of a bullet')} %1"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`,
    ),
    'word/settings.xml': part(
      'settings',
      'settings',
      `<w:attachedTemplate r:id="rId99"/><w:docVars><w:docVar w:name="${planting.name('name of a variable')}" w:val="${planting.entry('variable')}"/></w:docVars><w:mailMerge><w:query w:val="${planting.entry('mail merge')}"/></w:mailMerge>`,
    ),
    'word/theme/theme1.xml': {
      type: 'theme+xml',
      content: `<a:theme ${W} name="${planting.name('name of a theme')}"><a:themeElements><a:clrScheme name="${planting.name('name of colours')}"/><a:fontScheme name="${planting.name('name of fonts')}"><a:majorFont><a:latin typeface="${planting.name('font of a theme')}"/></a:majorFont></a:fontScheme></a:themeElements></a:theme>`,
    },
    'word/charts/chart1.xml': {
      type: 'drawingml.chart+xml',
      content: `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>${planting.sentence('title of a chart')}</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:layout/><c:barChart><c:barDir val="col"/><c:grouping val="clustered"/><c:ser><c:idx val="0"/><c:order val="0"/><c:tx><c:strRef><c:f>'${planting.name('formula of a chart')}'!$A$1</c:f><c:strCache><c:pt idx="0"><c:v>${planting.entry('value of a chart')}</c:v></c:pt></c:strCache></c:strRef></c:tx><c:val><c:numRef><c:f>Data!$A$1</c:f><c:numCache><c:formatCode>"${planting.name('format of a chart')}" 0</c:formatCode><c:ptCount val="1"/><c:pt idx="0"><c:v>3</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser><c:axId val="1"/><c:axId val="2"/></c:barChart><c:catAx><c:axId val="1"/><c:scaling/><c:delete val="0"/><c:axPos val="b"/><c:crossAx val="2"/></c:catAx><c:valAx><c:axId val="2"/><c:scaling/><c:delete val="0"/><c:axPos val="l"/><c:crossAx val="1"/></c:valAx></c:plotArea></c:chart><c:externalData r:id="rId1"/></c:chartSpace>`,
      relations: { rId1: ['package', '../embeddings/book.xlsx'] },
    },
  };
}

/** Parts that a reader is never shown. */
function hiddenParts(planting: Planting): Record<string, TestPart> {
  const xml = (root: string, inner: string): string => `<${root} xmlns:vt="urn:vt">${inner}</${root}>`;
  return {
    'word/glossary/document.xml': {
      type: 'wordprocessingml.document.glossary+xml',
      content: `<w:glossaryDocument ${W}>${paragraph(run(planting.sentence('glossary')))}</w:glossaryDocument>`,
    },
    'word/embeddings/object.bin': {
      type: 'oleObject',
      content: Buffer.from(planting.sentence('embedded object'), 'utf16le'),
    },
    'word/embeddings/book.xlsx': {
      type: 'spreadsheetml.sheet',
      content: Buffer.from(planting.sentence('embedded workbook')),
    },
    'word/people.xml': {
      type: 'application/vnd.ms-word.people+xml',
      content: xml('people', `<person author="${planting.name('people')}"/>`),
    },
    'customXml/item1.xml': { type: 'application/xml', content: xml('item', planting.sentence('custom XML')) },
    'docProps/core.xml': {
      type: 'application/vnd.openxmlformats-package.core-properties+xml',
      content: xml(
        'coreProperties',
        `<creator>${planting.name('creator')}</creator><title>${planting.entry('title')}</title>`,
      ),
    },
    'docProps/app.xml': {
      type: 'extended-properties+xml',
      content: xml(
        'Properties',
        `<Company>${planting.name('company')}</Company><Manager>${planting.name('manager')}</Manager>`,
      ),
    },
    'docProps/custom.xml': {
      type: 'custom-properties+xml',
      content: xml(
        'Properties',
        `<property name="${planting.name('name of a property')}"><vt:lpwstr>${planting.entry('custom property')}</vt:lpwstr></property>`,
      ),
    },
  };
}
