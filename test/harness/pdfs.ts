import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  PDFDict,
  PDFDocument,
  PDFHexString,
  PDFName,
  PDFStream,
  PDFString,
  rgb,
  StandardFonts,
  type PDFContext,
  type PDFFont,
  type PDFObject,
  type PDFPage,
  type PDFRawStream,
} from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { readAgain } from '../../inference/formats/pdf/second-reader.ts';
import { decoded } from '../../inference/formats/pdf/streams.ts';

const run = promisify(execFile);

type Entries = NonNullable<Parameters<PDFContext['stream']>[1]>;

/** A name for each place in a document that personal data can be in. */
export const PLANTED = {
  line: 'Erika Mustermann',
  split: 'Balthasar Kringel',
  nested: 'Cordula Fennich',
  white: 'Dietmar Goldap',
  covered: 'Edeltraud Hollmann',
  field: 'Friedhelm Ivenack',
  stamp: 'Gundula Jastrow',
  title: 'Hartmut Kabelitz',
  xmp: 'Irmtraud Lubmin',
  attribute: 'Jochen Malchow',
  outline: 'Kunigunde Neetzow',
  comment: 'Lothar Osterburg',
  fieldName: 'Mechthild Pasewalk',
  alternative: 'Norbert Quitzow',
  actual: 'Ottilie Rambin',
  structure: 'Pankraz Sagard',
  attachment: 'Quirin Teterow',
  attached: 'Roswitha Usedom',
  script: 'Siegbert Vitte',
  layer: 'Traudel Wolgast',
  invisible: 'Ulfried Xanten',
  outside: 'Valeska Ystad',
  piece: 'Wendelin Zingst',
  unused: 'Xaver Altentreptow',
  revision: 'Yvette Bergholz',
  picture: 'Zacharias Chorin',
  link: 'anselm.demmin',
  signature: 'Bertold Eldena',
  figure: 'Clothilde Friedland',
} as const;

/** Of these, what a reader sees; the gateway would have tags put in their places. */
export const SEEN = ['line', 'split', 'nested', 'white', 'covered', 'field', 'stamp'] as const;

/** A page with lines of text. */
export async function letter(lines: readonly string[], size = 11): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  const page = document.addPage([595, 842]);
  for (const [index, line] of lines.entries()) page.drawText(line, { x: 60, y: 760 - index * size * 1.3, size, font });
  return document.save();
}

/** A document with something planted in every place, a picture in a form and one in its content, saved over an older one. */
export async function plantedPdf(): Promise<Uint8Array> {
  const before = await letter([`Draft for ${PLANTED.revision}`]);
  const document = await PDFDocument.load(before, { forIncrementalUpdate: true });
  const page = document.getPage(0);
  page.node.delete(PDFName.of('Contents'));
  const font = await document.embedFont(StandardFonts.Helvetica);
  page.drawText(`Dear ${PLANTED.line}, welcome.`, { x: 60, y: 760, size: 11, font });
  page.drawText(`White ${PLANTED.white} here`, { x: 60, y: 740, size: 11, font, color: rgb(1, 1, 1) });
  page.drawText(`Below ${PLANTED.covered} there`, { x: 60, y: 720, size: 11, font });
  page.drawRectangle({ x: 50, y: 715, width: 300, height: 16, color: rgb(0.9, 0.9, 0.9) });
  page.drawText(`Outside ${PLANTED.outside}`, { x: 700, y: 760, size: 11, font });
  await addPictures(document, page, font);
  addContent(document, page);
  addToPage(document, page, font);
  await addToDocument(document);
  return Buffer.concat([await document.commit({ useObjectStreams: false }), Buffer.from(`\n% ${PLANTED.comment}\n`)]);
}

const text = (value: string): PDFHexString => PDFHexString.fromText(value);

/** A picture within a form, with a name in its metadata, beside a name in the form; both under another form's matrix. */
async function addPictures(document: PDFDocument, page: PDFPage, font: PDFFont): Promise<void> {
  const { context } = document;
  const chequered = Buffer.alloc(64 * 64 * 3, 0);
  for (let at = 0; at < 64 * 64; at++) if (((at >> 1) + (at >> 7)) % 2) chequered.fill(255, at * 3, at * 3 + 3);
  const jpeg = await sharp(chequered, { raw: { width: 64, height: 64, channels: 3 } })
    .withExif({ IFD0: { Artist: PLANTED.picture } })
    .jpeg()
    .toBuffer();
  const picture = context.stream(jpeg, {
    ...{ Type: 'XObject', Subtype: 'Image', Width: 64, Height: 64, BitsPerComponent: 8 },
    ...{ ColorSpace: 'DeviceRGB', Filter: 'DCTDecode' },
  });
  picture.dict.set(PDFName.of('Alt'), text(PLANTED.alternative));
  const resources = { XObject: { I: context.register(picture) }, Font: { F: font.ref } };
  const inner = formOf(
    context,
    `q 100 0 0 100 0 0 cm /I Do Q BT /F 11 Tf 0 110 Td (Nested ${PLANTED.nested}) Tj ET`,
    resources,
  );
  const outer = formOf(context, 'q 1 0 0 1 0 0 cm /X Do Q', { XObject: { X: context.register(inner) } });
  // TeX tells where a figure came from, and what that file said of itself.
  outer.dict.set(PDFName.of('PTEX.FileName'), text(`./figures/${PLANTED.figure}.pdf`));
  outer.dict.set(PDFName.of('PTEX.InfoDict'), context.register(context.obj({ Author: text(PLANTED.figure) })));
  const unused = formOf(context, `BT /F 9 Tf (${PLANTED.unused}) Tj ET`, resources);
  page.node.setXObject(PDFName.of('Outer'), context.register(outer));
  page.node.setXObject(PDFName.of('Unused'), context.register(unused));
}

function formOf(context: PDFContext, content: string, resources: Entries): PDFRawStream {
  const head = { Type: 'XObject', Subtype: 'Form', BBox: [0, 0, 400, 400], Resources: resources };
  return context.stream(content, head);
}

/** Marks, letters that are placed one by one, invisible ones, and a picture of two by two dots. */
function addContent({ context }: PDFDocument, page: PDFPage): void {
  const [first, last] = PLANTED.split.split(' ');
  const operators = `
q 1 0 0 1 60 560 cm /Outer Do Q
/Span <</ActualText (${PLANTED.actual}) /Alt (${PLANTED.alternative})>> BDC
BT /G 11 Tf 60 690 Td [(Split ${first?.slice(0, 3)})-4(${first?.slice(3)})-300(${last?.slice(0, 4)})12(${last?.slice(4)}) ( end)] TJ ET
EMC
/OC /L BDC BT /G 11 Tf 60 630 Td (Layered) Tj ET EMC
BT 3 Tr /G 11 Tf 60 650 Td (Unseen ${PLANTED.invisible}) Tj ET
q 60 0 0 60 300 560 cm BI /W 2 /H 2 /BPC 8 /CS /G ID ${'\0'}\xff\xff\0 EI Q`;
  page.node.addContentStream(context.register(context.stream(Buffer.from(operators, 'latin1'))));
  const layer = context.register(context.obj({ Type: 'OCG' }));
  context.lookup(layer, PDFDict).set(PDFName.of('Name'), text(PLANTED.layer));
  const resources = page.node.Resources();
  resources?.set(PDFName.of('Properties'), context.obj({ L: layer }));
  const fonts = resources?.lookup(PDFName.of('Font'), PDFDict);
  const [known] = fonts?.values() ?? [];
  if (known) fonts?.set(PDFName.of('G'), known);
}

/** Annotations of every kind, a field, a thumbnail, private data. */
function addToPage(document: PDFDocument, page: PDFPage, font: PDFFont): void {
  const { context } = document;
  const annotation = (entries: object, strings: Readonly<Record<string, string>> = {}) => {
    const dict = context.obj({ Type: 'Annot', ...entries });
    for (const [key, value] of Object.entries(strings)) dict.set(PDFName.of(key), text(value));
    page.node.addAnnot(context.register(dict));
    return dict;
  };
  annotation({ Subtype: 'Text', Rect: [400, 700, 420, 720] }, { Contents: PLANTED.comment, T: PLANTED.comment });
  const link = annotation({ Subtype: 'Link', Rect: [60, 500, 120, 512] });
  link.set(PDFName.of('A'), context.obj({ S: 'URI', URI: PDFString.of(`mailto:${PLANTED.link}@example.com`) }));
  const drawn = formOf(context, `BT /F 11 Tf 2 4 Td (Stamp ${PLANTED.stamp}) Tj ET`, { Font: { F: font.ref } });
  drawn.dict.set(PDFName.of('BBox'), context.obj([0, 0, 200, 20]));
  annotation({ Subtype: 'Stamp', F: 4, Rect: [60, 520, 260, 540], AP: { N: context.register(drawn) } });
  const field = document.getForm().createTextField(PLANTED.fieldName);
  field.setText(`Filled ${PLANTED.field}`);
  field.addToPage(page, { x: 60, y: 460, width: 300, height: 24, font });
  const private_ = context.obj({ Private: { Data: text(PLANTED.piece) } });
  page.node.set(PDFName.of('PieceInfo'), context.obj({ Editor: private_ }));
  page.node.set(
    PDFName.of('Metadata'),
    context.register(context.stream(`<x>${PLANTED.xmp}</x>`, { Type: 'Metadata' })),
  );
  const thumbnail = context.stream(Buffer.from(PLANTED.picture), {
    Width: 1,
    Height: 1,
    BitsPerComponent: 8,
    ColorSpace: 'DeviceGray',
  });
  page.node.set(PDFName.of('Thumb'), context.register(thumbnail));
}

/** What belongs to the document as a whole. */
async function addToDocument(document: PDFDocument): Promise<void> {
  const { context, catalog } = document;
  const set = (key: string, value: PDFObject): void => catalog.set(PDFName.of(key), value);
  document.setTitle(PLANTED.title);
  document.setAuthor(PLANTED.title);
  const xmp = `<x:xmpmeta><rdf:Description dc:creator="${PLANTED.attribute}"><dc:title>${PLANTED.xmp}</dc:title></rdf:Description></x:xmpmeta>`;
  set('Metadata', context.register(context.flateStream(xmp, { Type: 'Metadata', Subtype: 'XML' })));
  const outline = context.register(context.obj({ Title: text(PLANTED.outline) }));
  set('Outlines', context.obj({ Type: 'Outlines', First: outline, Last: outline, Count: 1 }));
  set('StructTreeRoot', context.obj({ Type: 'StructTreeRoot', K: [{ S: 'Figure', Alt: text(PLANTED.structure) }] }));
  await document.attach(Buffer.from(`Enclosed: ${PLANTED.attached}`), `${PLANTED.attachment}.txt`, {
    mimeType: 'text/plain',
  });
  document.addJavaScript('greet', `app.alert("${PLANTED.script}")`);
  const signature = { Type: 'Sig', Filter: 'Adobe.PPKLite', Name: text(PLANTED.signature), ByteRange: [0, 1, 2, 3] };
  context.register(context.obj(signature));
}

/** All that can be found in a PDF, by three readers and in its bytes. `qpdf` and `pdftotext` say more where they are there. */
export async function everythingIn(bytes: Uint8Array): Promise<string> {
  const found = [Buffer.from(bytes).toString('latin1'), ...(await readAgain(bytes, () => {}))];
  const document = await PDFDocument.load(bytes, { updateMetadata: false });
  for (const [, object] of document.context.enumerateIndirectObjects()) {
    found.push(String(object));
    if (object instanceof PDFStream) found.push(Buffer.from(decoded(object) ?? []).toString('latin1'));
  }
  const folder = await mkdtemp(join(tmpdir(), 'pdf-'));
  try {
    const path = join(folder, 'a.pdf');
    await writeFile(path, bytes);
    found.push(await tool('pdftotext', [path, '-']), await tool('pdftotext', ['-layout', path, '-']));
    found.push(await tool('qpdf', ['--qdf', '--object-streams=disable', path, '-']));
  } finally {
    await rm(folder, { recursive: true });
  }
  const hex = [...found.join('\n').matchAll(/<((?:[0-9a-fA-F]{2})+)>/g)].map(([, digits = '']) =>
    Buffer.from(digits, 'hex'),
  );
  const utf16 = hex.map((string) =>
    Buffer.from(string.subarray(0, string.length & ~1))
      .swap16()
      .toString('utf16le'),
  );
  const latin = hex.map((string) => string.toString('latin1'));
  return [...found, ...latin, ...utf16].join('\n');
}

/** Whether the tools that other readers are checked with are installed. */
export async function hasPdfTools(): Promise<boolean> {
  return (await tool('qpdf', ['--version'])) !== '' && (await tool('pdftotext', ['-v'])) !== '';
}

async function tool(command: string, args: readonly string[]): Promise<string> {
  const options = { encoding: 'latin1', maxBuffer: 1 << 28 } as const;
  return run(command, [...args], options).then(
    ({ stdout, stderr }) => stdout || stderr,
    (error: unknown) => (error as { stdout?: string }).stdout ?? '',
  );
}
