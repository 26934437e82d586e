import {
  PDFDict,
  PDFDocument,
  PDFHexString,
  PDFName,
  PDFRef,
  PDFString,
  type PDFContext,
  type PDFObject,
  type PDFPage,
} from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { ascii } from './people.ts';
import type { CorpusDocument, Planting } from './planting.ts';
import { embedGlyphFont, type GlyphFont } from './type0-font.ts';

type Entries = Readonly<Record<string, PDFObject | string>>;

const A4 = { width: 595, height: 842 };
const LINE = 14;
/** Letters of a line at ten points. */
const COLUMNS = 88;

/** A letter of two pages with something in every place that the format has for text. */
export async function pdfLetter(planting: Planting): Promise<CorpusDocument> {
  const draft = await earlierRevision(planting);
  const document = await PDFDocument.load(draft, { forIncrementalUpdate: true });
  const font = embedGlyphFont(
    document.context,
    ascii(planting.name('name of a font')),
    ascii(planting.sentence('comment of a font')),
  );
  const page = document.getPage(0);
  page.node.delete(PDFName.of('Contents'));
  page.node.setFontDictionary(PDFName.of('F'), font.ref);
  const { text } = planting;
  const lines = [
    text.heading,
    planting.sentence('line'),
    ...text.paragraphs,
    planting.again(),
    ...text.list,
    planting.again(),
  ];
  addContent(document, page, `${written(font, lines.flatMap(wrapped))}\n${oddities(planting, font)}`);
  await addPicture(document, page, planting, font);
  addLayer(document, page, planting);
  addAnnotations(document, page, planting, font);
  addToCatalog(document, planting);
  await document.attach(
    Buffer.from(planting.sentence('attachment')),
    `${ascii(planting.name('name of an attachment'))}.txt`,
    {
      description: planting.entry('description of an attachment'),
    },
  );
  document.addJavaScript('greet', `app.alert("${ascii(planting.entry('script'))}")`);
  const second = document.addPage([A4.height, A4.width]);
  second.node.set(PDFName.of('Rotate'), document.context.obj(planting.random.pick([0, 90, 180, 270])));
  second.node.setFontDictionary(PDFName.of('F'), font.ref);
  const more = [
    planting.sentence('line of the second page'),
    planting.again(),
    ...text.table.map((row) => row.join('    ')),
  ];
  addContent(document, second, written(font, more, A4.width));
  const saved = await document.commit({ useObjectStreams: false });
  const bytes = Buffer.concat([saved, Buffer.from(`\n% ${planting.sentence('comment behind the end')}\n`)]);
  const shown = [text.heading, ...text.paragraphs, ...text.list, ...text.table.flat()];
  return { name: 'letter.pdf', mediaType: 'application/pdf', bytes, scanned: false, ...planting.done(shown) };
}

async function earlierRevision(planting: Planting): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const page = document.addPage([A4.width, A4.height]);
  const font = embedGlyphFont(document.context, 'Draft', '');
  page.node.setFontDictionary(PDFName.of('F'), font.ref);
  addContent(document, page, written(font, wrapped(planting.sentence('earlier revision'))));
  document.setTitle(planting.entry('title of the earlier revision'));
  return document.save({ useObjectStreams: planting.random.chance(1 / 2) });
}

function wrapped(text: string): readonly string[] {
  return text.match(new RegExp(`.{1,${COLUMNS}}(?:\\s|$)`, 'g')) ?? [];
}

/** Lines of text down a page. */
function written(font: GlyphFont, lines: readonly string[], height = A4.height): string {
  const shows = lines.map((line) => `${font.hex(line.trimEnd())} Tj 0 -${LINE} Td`);
  return `BT /F 10 Tf 50 ${height - 60} Td ${shows.join('\n')} ET`;
}

function addContent({ context }: PDFDocument, page: PDFPage, operators: string): void {
  page.node.addContentStream(context.register(context.flateStream(Buffer.from(operators))));
}

/** Text that is drawn in ways that hide it, or tell it otherwise than it is drawn. */
function oddities(planting: Planting, font: GlyphFont): string {
  const show = (place: string, x: number, y: number, before = ''): string =>
    `BT ${before} /F 9 Tf ${x} ${y} Td ${font.hex(planting.sentence(place))} Tj ET`;
  const letters = Array.from(
    planting.sentence('letter by letter'),
    (letter, at) => `${font.hex(letter)} ${at % 2 ? 12 : -9}`,
  );
  const mark = (entry: string, place: string): string =>
    `/Span <</${entry} ${String(PDFHexString.fromText(planting.sentence(place)))}>> BDC ${show(`text under ${place}`, 50, 200)} EMC`;
  return [
    show('white on white', 50, 180, '1 1 1 rg'),
    '0 g',
    show('invisible', 50, 165, '3 Tr'),
    show('outside of the page', 900, 900, '0 Tr'),
    `${show('covered', 50, 150)} 0.9 g 45 145 500 14 re f 0 g`,
    `BT /F 9 Tf 50 135 Td [${letters.join('')}] TJ ET`,
    mark('ActualText', 'actual text'),
    mark('Alt', 'alternative text of a mark'),
    show('tiny', 50, 120, '0.1 Tz'),
    '100 Tz',
    `q 0.7 0.7 -0.7 0.7 300 60 cm ${show('turned', 0, 0)} Q`,
    `% ${ascii(planting.sentence('comment in content'))}`,
    `/OC /Layer BDC ${show('optional content', 50, 105)} EMC`,
    `/${ascii(planting.name('name of a picture')).replace(' ', '_')} Do`,
  ].join('\n');
}

/** A picture that says whose it is, within a form; its colours and its resource have names too. */
async function addPicture({ context }: PDFDocument, page: PDFPage, planting: Planting, font: GlyphFont): Promise<void> {
  const named = planting.planted.find(({ place }) => place === 'name of a picture')?.name ?? '';
  const jpeg = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#7788aa' } })
    .withExif({ IFD0: { Artist: ascii(planting.name('EXIF of a picture')) } })
    .jpeg()
    .toBuffer();
  const profile = context.register(
    context.flateStream(Buffer.from(ascii(planting.sentence('profile of colours'))), { N: 3, Alternate: 'DeviceRGB' }),
  );
  const image = context.stream(jpeg, {
    Type: 'XObject',
    Subtype: 'Image',
    Width: 64,
    Height: 64,
    BitsPerComponent: 8,
    Filter: 'DCTDecode',
  });
  image.dict.set(PDFName.of('ColorSpace'), context.obj([PDFName.of('ICCBased'), profile]));
  image.dict.set(PDFName.of('Alt'), PDFHexString.fromText(planting.entry('alternative text of a picture')));
  image.dict.set(
    PDFName.of('Metadata'),
    context.register(context.stream(`<x>${planting.entry('XMP of a picture')}</x>`, { Type: 'Metadata' })),
  );
  const form = context.stream(
    `q 60 0 0 60 0 0 cm /I Do Q BT /F 9 Tf 70 10 Td ${font.hex(planting.sentence('form'))} Tj ET`,
    {
      ...{ Type: 'XObject', Subtype: 'Form', BBox: [0, 0, 500, 80], Matrix: [1, 0, 0, 1, 50, 20] },
      Resources: { XObject: { I: context.register(image) }, Font: { F: font.ref } },
    },
  );
  form.dict.set(PDFName.of('LastModified'), PDFString.of(ascii(planting.name('private data'))));
  page.node.setXObject(PDFName.of(ascii(named).replace(' ', '_')), context.register(form));
  const thumbnail = context.stream(Buffer.from(ascii(planting.sentence('thumbnail'))), {
    Width: 1,
    Height: 1,
    BitsPerComponent: 8,
    ColorSpace: 'DeviceGray',
  });
  page.node.set(PDFName.of('Thumb'), context.register(thumbnail));
  const colour = PDFName.of(ascii(planting.name('name of a colour')));
  const tint = context.register(
    context.stream(`{ % ${ascii(planting.name('comment of a function'))}\n dup dup }`, {
      FunctionType: 4,
      Domain: [0, 1],
      Range: [0, 1, 0, 1, 0, 1],
    }),
  );
  const space = context.obj([PDFName.of('Separation'), colour, PDFName.of('DeviceRGB'), tint]);
  page.node.normalizedEntries().Resources.set(PDFName.of('ColorSpace'), context.obj({ Spot: space }));
  page.node.addContentStream(context.register(context.stream('/Spot cs 0.5 scn 560 20 20 20 re f')));
}

function addLayer({ context, catalog }: PDFDocument, page: PDFPage, planting: Planting): void {
  const layer = context.register(
    dict(context, { Type: 'OCG', Name: PDFHexString.fromText(planting.entry('name of a layer')) }),
  );
  page.node.Resources()?.set(PDFName.of('Properties'), context.obj({ Layer: layer }));
  catalog.set(PDFName.of('OCProperties'), context.obj({ OCGs: [layer], D: { OFF: [layer], Order: [layer] } }));
}

function dict(context: PDFContext, entries: Entries): PDFDict {
  const made = context.obj({});
  for (const [key, value] of Object.entries(entries))
    made.set(PDFName.of(key), typeof value === 'string' ? PDFName.of(value) : value);
  return made;
}

/** Comments, links, a stamp and form fields of every kind. */
function addAnnotations(document: PDFDocument, page: PDFPage, planting: Planting, font: GlyphFont): void {
  const { context } = document;
  const text = (place: string): PDFHexString => PDFHexString.fromText(planting.entry(place));
  const add = (subtype: string, x: number, entries: Entries): void => {
    const annotation = dict(context, {
      Type: 'Annot',
      Subtype: subtype,
      Rect: context.obj([x, 700, x + 20, 720]),
      ...entries,
    });
    page.node.addAnnot(context.register(annotation));
  };
  const appearance = (place: string): PDFObject => {
    const content = `BT /F 8 Tf 2 2 Td ${font.hex(planting.sentence(place))} Tj ET`;
    const form = { Type: 'XObject', Subtype: 'Form', BBox: [0, 0, 400, 20], Resources: { Font: { F: font.ref } } };
    return context.obj({ N: context.register(context.stream(content, form)) });
  };
  add('Text', 500, { Contents: text('comment'), T: text("comment's author"), Subj: text('subject of a comment') });
  add('FreeText', 60, {
    Contents: text('free text'),
    Rect: context.obj([300, 20, 590, 40]),
    AP: appearance('appearance of free text'),
  });
  add('Highlight', 470, {
    Contents: text('highlight'),
    RC: text('rich text of a comment'),
    QuadPoints: context.obj([0, 0, 1, 0, 0, 1, 1, 1]),
  });
  add('Link', 440, { A: dict(context, { S: 'URI', URI: PDFString.of(`mailto:${planting.email('link')}`) }) });
  add('Stamp', 410, {
    F: context.obj(4),
    Rect: context.obj([100, 80, 500, 100]),
    Name: ascii(planting.name('name of a stamp')),
    AP: appearance('stamp'),
  });
  const form = document.getForm();
  const standard = document.embedStandardFont('Helvetica' as Parameters<PDFDocument['embedStandardFont']>[0]);
  const field = form.createTextField(ascii(planting.name('name of a field')).replace('.', ''));
  field.setText(ascii(planting.entry('value of a field')));
  field.addToPage(page, { x: 50, y: 40, width: 240, height: 18, font: standard });
  field.acroField.dict.set(PDFName.of('TU'), text('tooltip of a field'));
  field.acroField.dict.set(PDFName.of('DV'), text('default of a field'));
  const choice = form.createDropdown('choice');
  const options = [ascii(planting.name('choice that is not taken')), ascii(planting.name('choice'))];
  choice.addOptions(options);
  choice.select(options[1] ?? '');
  choice.addToPage(page, { x: 300, y: 60, width: 200, height: 18, font: standard });
}

function addToCatalog(document: PDFDocument, planting: Planting): void {
  const { context, catalog } = document;
  const set = (key: string, value: PDFObject): void => catalog.set(PDFName.of(key), value);
  const text = (place: string): PDFHexString => PDFHexString.fromText(planting.entry(place));
  document.setTitle(planting.entry('title'));
  document.setAuthor(planting.name('author'));
  document.setKeywords([planting.entry('keywords')]);
  const info = context.lookup(context.trailerInfo.Info, PDFDict);
  info.set(PDFName.of(ascii(planting.name('key of information')).replace(' ', '')), text('information of ones own'));
  const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description dc:creator="${planting.entry('attribute of XMP')}"><dc:title>${planting.entry('XMP')}</dc:title></rdf:Description></rdf:RDF></x:xmpmeta>`;
  set('Metadata', context.register(context.flateStream(xmp, { Type: 'Metadata', Subtype: 'XML' })));
  const outline = context.register(dict(context, { Title: text('outline') }));
  set('Outlines', dict(context, { Type: 'Outlines', First: outline, Last: outline }));
  const element = dict(context, {
    S: 'Figure',
    Alt: text('alternative text of structure'),
    ActualText: text('actual text of structure'),
    T: text('title of structure'),
  });
  set('StructTreeRoot', dict(context, { Type: 'StructTreeRoot', K: context.obj([element]) }));
  set('PieceInfo', dict(context, { Editor: dict(context, { Private: text('data of an editor') }) }));
  set('PageLabels', context.obj({ Nums: [0, dict(context, { P: text('label of a page') })] }));
  set('Lang', PDFString.of(ascii(planting.name('language'))));
  // Objects that nothing refers to.
  context.register(dict(context, { Type: 'Sig', Name: text('signature') }));
  context.register(context.flateStream(Buffer.from(planting.sentence('object that nothing refers to'), 'utf16le')));
  const stale = context.register(context.obj([text('array that nothing refers to')]));
  if (!(stale instanceof PDFRef)) throw new Error('no object');
}
