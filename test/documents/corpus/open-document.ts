import { strToU8, zipSync } from 'fflate';
import { addressOf, apart } from './disguises.ts';
import { photo } from './photo.ts';
import type { CorpusDocument, Planting } from './planting.ts';

const OASIS = 'urn:oasis:names:tc:opendocument:xmlns';
const NS = [
  ...['office', 'style', 'text', 'table', 'draw', 'presentation', 'meta', 'number', 'form', 'script'].map(
    (name) => `xmlns:${name}="${OASIS}:${name}:1.0"`,
  ),
  `xmlns:svg="${OASIS}:svg-compatible:1.0" xmlns:fo="${OASIS}:xsl-fo-compatible:1.0"`,
  'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:own="urn:example:own"',
].join(' ');
const TYPE = 'application/vnd.oasis.opendocument';

type Kind = 'text' | 'spreadsheet' | 'presentation';
const ENDINGS: Readonly<Record<Kind, string>> = { text: 'odt', spreadsheet: 'ods', presentation: 'odp' };

const p = (inner: string): string => `<text:p>${inner}</text:p>`;

/** A text, a sheet or slides, with something in every place that the format has for text. */
export async function openDocument(planting: Planting): Promise<CorpusDocument> {
  const kind = planting.random.pick(['text', 'spreadsheet', 'presentation'] as const);
  const { text } = planting;
  const shown = [text.heading, ...text.paragraphs, ...text.list, ...text.table.flat()];
  const inner = { text: textBody, spreadsheet: sheetBody, presentation: slideBody }[kind](planting);
  const body = `<office:${kind}>${inner}</office:${kind}>`;
  const parts: Record<string, Uint8Array | [Uint8Array, { level: 0 }]> = {
    mimetype: [strToU8(`${TYPE}.${kind}`), { level: 0 }],
    'content.xml': strToU8(
      `<?xml version="1.0"?><!-- ${planting.sentence('comment of XML')} --><office:document-content ${NS} xmlns:who="urn:example:${planting.email('namespace')}" office:version="1.2"><office:scripts><script:event-listener script:macro-name="${planting.name('macro')}"/></office:scripts><office:font-face-decls><style:font-face style:name="${planting.name('name of a font')}" svg:font-family="Arial"/></office:font-face-decls><office:automatic-styles><style:style style:name="${planting.name('name of a style').replace(' ', '_')}" style:display-name="${planting.name('shown name of a style')}" style:family="paragraph"/></office:automatic-styles><office:body>${body}</office:body></office:document-content>`,
    ),
    'styles.xml': strToU8(
      `<office:document-styles ${NS} office:version="1.2"><office:styles/><office:automatic-styles><style:page-layout style:name="pl"/></office:automatic-styles><office:master-styles><style:master-page style:name="Standard" style:page-layout-name="pl"><style:header>${p(planting.sentence('header'))}</style:header><style:footer>${p(planting.sentence('footer'))}</style:footer></style:master-page></office:master-styles></office:document-styles>`,
    ),
    'meta.xml': strToU8(
      `<office:document-meta ${NS}><office:meta><dc:creator>${planting.name('creator')}</dc:creator><meta:keyword>${planting.entry('keyword')}</meta:keyword><meta:user-defined meta:name="${planting.name('name of a property')}">${planting.entry('property')}</meta:user-defined></office:meta></office:document-meta>`,
    ),
    'settings.xml': strToU8(
      `<office:document-settings ${NS}><office:settings>${planting.entry('setting')}</office:settings></office:document-settings>`,
    ),
    'Pictures/photo.jpg': await photo(planting),
    'Thumbnails/thumbnail.png': await photo(planting),
    'Object 1/content.xml': strToU8(
      `<office:document-content ${NS}><office:body>${p(planting.sentence('embedded object'))}</office:body></office:document-content>`,
    ),
    'layout-cache': strToU8(planting.sentence('cache')),
    'META-INF/manifest.xml': strToU8(
      `<manifest:manifest xmlns:manifest="${OASIS}:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="${TYPE}.${kind}"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/><!-- ${planting.entry('manifest')} --></manifest:manifest>`,
    ),
  };
  const file = { name: `paper.${ENDINGS[kind]}`, mediaType: `${TYPE}.${kind}`, bytes: zipSync(parts) };
  return { ...file, scanned: false, ...planting.done(shown) };
}

function annotation(planting: Planting): string {
  return `<office:annotation><dc:creator>${planting.name("note's author")}</dc:creator><dc:date>2024-01-01T00:00:00</dc:date>${p(planting.sentence('note'))}</office:annotation>`;
}

function picture(planting: Planting): string {
  return `<draw:frame draw:name="${planting.name('name of a picture')}" svg:width="2cm" svg:height="2cm"><draw:image xlink:href="Pictures/photo.jpg"/><svg:title>${planting.entry('title of a picture')}</svg:title><svg:desc>${planting.entry('alternative text')}</svg:desc></draw:frame>`;
}

function object(planting: Planting): string {
  return `<draw:frame svg:width="2cm" svg:height="2cm"><draw:object xlink:href="./Object 1"/><own:memo own:by="${planting.entry('attribute of a stranger')}">${planting.sentence('element of a stranger')}</own:memo></draw:frame>`;
}

function rowsOf(planting: Planting, cell: (text: string) => string): string {
  const { text } = planting;
  const rows = [...text.table, [planting.entry('cell'), planting.again(), 'x']];
  return rows.map((row) => `<table:table-row>${row.map(cell).join('')}</table:table-row>`).join('');
}

const cell = (text: string): string => `<table:table-cell office:value-type="string">${p(text)}</table:table-cell>`;

function textBody(planting: Planting): string {
  const { text } = planting;
  const broken = planting.email('address over two paragraphs');
  const half = broken.indexOf('@') + 3;
  const split = planting.sentence('spans').match(/[^]{1,7}/g) ?? [];
  return [
    `<text:tracked-changes><text:changed-region text:id="c1"><text:deletion><office:change-info><dc:creator>${planting.name('author of a change')}</dc:creator></office:change-info>${p(planting.sentence('deletion'))}</text:deletion></text:changed-region></text:tracked-changes>`,
    `<text:h text:outline-level="1">${text.heading}</text:h>`,
    p(planting.sentence('paragraph')),
    ...text.paragraphs.map(p),
    p(planting.again()),
    p(split.map((piece) => `<text:span>${piece}</text:span>`).join('')),
    p(`x<text:change text:change-id="c1"/>${annotation(planting)}`),
    `<text:list>${text.list.map((item) => `<text:list-item>${p(item)}</text:list-item>`).join('')}</text:list>`,
    p(
      `y<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>${p(planting.sentence('footnote'))}</text:note-body></text:note>`,
    ),
    p(
      `<text:bookmark text:name="${planting.name('bookmark').replace(' ', '_')}"/><text:author-name>${planting.name('field of the author')}</text:author-name>`,
    ),
    p(
      `<text:user-field-get text:name="${planting.name('name of a field').replace(' ', '_')}">${planting.entry('field')}</text:user-field-get>`,
    ),
    p(
      `<text:placeholder text:description="${planting.entry('description of a field')}">z</text:placeholder><text:hidden-text text:string-value="${planting.entry('hidden text')}"/>`,
    ),
    p(
      `<text:a xlink:href="mailto:${planting.email('link')}" office:title="${planting.entry('title of a link')}">link</text:a>`,
    ),
    p(`<text:a xlink:href="${addressOf(planting.entry('query of a link')).replaceAll('&', '&amp;')}">other</text:a>`),
    p(apart(planting.name('letters apart'))),
    p(planting.name('blanks of the format').replace(' ', '<text:s text:c="3"/>')),
    p(`${broken.slice(0, half)}-`),
    p(`${broken.slice(half)} x`),
    p(picture(planting)),
    p(object(planting)),
    p(`<draw:frame><draw:text-box>${p(planting.sentence('text box'))}</draw:text-box></draw:frame>`),
    `<table:table table:name="${planting.name('name of a table')}">${rowsOf(planting, cell)}</table:table>`,
  ].join('');
}

function sheetBody(planting: Planting): string {
  const { text } = planting;
  const lines = [
    text.heading,
    ...text.paragraphs,
    ...text.list,
    planting.sentence('cell of a sentence'),
    planting.again(),
  ];
  const value = planting.entry('value of a cell');
  const name = planting.name('name of a sheet');
  return [
    `<table:content-validations><table:content-validation table:name="v1" table:condition="of:cell-content-is-in-list(&quot;${planting.name('choice')}&quot;)"><table:help-message table:title="${planting.entry('title of help')}">${p(planting.entry('help'))}</table:help-message></table:content-validation></table:content-validations>`,
    `<table:table table:name="${name}">`,
    lines.map((line) => `<table:table-row>${cell(line)}</table:table-row>`).join(''),
    `<table:table-row><table:table-cell office:value-type="string" office:string-value="${value}">${p(value)}</table:table-cell>`,
    `<table:table-cell table:formula="of:=HYPERLINK(&quot;mailto:${planting.email('formula')}&quot;)" office:value-type="string">${p('x')}${annotation(planting)}</table:table-cell></table:table-row>`,
    `<table:table-row table:visibility="collapse">${cell(planting.sentence('hidden row'))}</table:table-row>`,
    `<table:table-row><table:table-cell>${picture(planting)}${object(planting)}</table:table-cell></table:table-row>`,
    rowsOf(planting, cell),
    '</table:table>',
    `<table:named-expressions><table:named-range table:name="${planting.name('name of a range').replace(' ', '_')}" table:cell-range-address="$A$1"/></table:named-expressions>`,
  ].join('');
}

function slideBody(planting: Planting): string {
  const { text } = planting;
  const lines = [text.heading, ...text.paragraphs, ...text.list, planting.sentence('line'), planting.again()];
  const box = (inner: string): string =>
    `<draw:frame svg:width="9cm" svg:height="9cm"><draw:text-box>${inner}</draw:text-box></draw:frame>`;
  return [
    `<presentation:footer-decl presentation:name="f">${planting.sentence('declared footer')}</presentation:footer-decl>`,
    `<draw:page draw:name="${planting.name('name of a slide')}" draw:master-page-name="Standard">`,
    box(lines.map(p).join('')),
    picture(planting),
    object(planting),
    `<draw:frame><table:table>${rowsOf(planting, cell)}</table:table></draw:frame>`,
    `<presentation:notes>${box(p(planting.sentence('notes')) + p(planting.again()))}</presentation:notes>${annotation(planting)}`,
    '</draw:page>',
    `<presentation:settings><presentation:show presentation:name="${planting.name('name of a show')}"/></presentation:settings>`,
  ].join('');
}
