import { PDFDocument, PDFName, PDFString, type PDFFont, type PDFPage } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { addressOf, apart } from './disguises.ts';
import { ascii } from './people.ts';
import type { CorpusDocument, Planting } from './planting.ts';
import { embedGlyphFont, type GlyphFont } from './type0-font.ts';

const A4 = { width: 595, height: 842 };
const LINE = 15;
const COLUMNS = 84;

/** A letter as word processors print it: nothing in it hinders that its pages are rewritten, text as text. */
export async function plainPdf(planting: Planting): Promise<CorpusDocument> {
  const document = await PDFDocument.create();
  const font = embedGlyphFont(document.context, 'Letter', '');
  const standard = document.embedStandardFont('Helvetica' as Parameters<PDFDocument['embedStandardFont']>[0]);
  const { text, random } = planting;
  const head = [planting.sentence('head of a page'), text.heading, planting.sentence('line')];
  write(sheet(document, font), font, [...head, ...text.paragraphs, planting.again(), ...overLines(planting)], random);
  const second = sheet(document, font);
  const more = [planting.again(), ...text.list, planting.entry('entry'), planting.again(), planting.email('address')];
  more.push(apart(planting.name('letters apart')), addressOf(planting.name('query of an address')));
  write(second, font, more, random);
  writeTable(second, font, planting);
  writeFoot(second, standard, planting);
  await drawLogo(document, second);
  link(document, second, planting);
  document.setTitle(planting.entry('title'));
  document.setAuthor(planting.name('author'));
  const bytes = await document.save({ useObjectStreams: random.chance(1 / 2) });
  const shown = [text.heading, ...text.paragraphs, ...text.list, ...text.table.flat()];
  const name = 'plain.pdf';
  return { name, mediaType: 'application/pdf', bytes, scanned: false, stays: true, ...planting.done(shown) };
}

function sheet(document: PDFDocument, font: GlyphFont): PDFPage {
  const page = document.addPage([A4.width, A4.height]);
  page.node.setFontDictionary(PDFName.of('F'), font.ref);
  return page;
}

/** Somebody whose name goes on in the next line. */
function overLines(planting: Planting): readonly string[] {
  const [first, family] = planting.name('name on two lines').split(' ');
  return [`${'– '.repeat(30)}${first}`, `${family} ${'– '.repeat(30)}`];
}

/** Lines down a page; in some, letters are moved by hand as justified text has it. */
function write(page: PDFPage, font: GlyphFont, texts: readonly string[], random: Planting['random']): void {
  const lines = texts.flatMap((text) => text.match(new RegExp(`.{1,${COLUMNS}}(?:\\s|$)`, 'gu')) ?? []);
  const shows = lines.map((line) => {
    const words = random.chance(1 / 3) ? line.trimEnd().split(/(?= )/) : [line.trimEnd()];
    return `[${words.map((word) => `${font.hex(word)} -12`).join(' ')}] TJ 0 -${LINE} Td`;
  });
  addContent(page, `BT /F 10 Tf 60 ${A4.height - 70} Td ${shows.join('\n')} ET`);
}

function writeTable(page: PDFPage, font: GlyphFont, planting: Planting): void {
  const rows = [...planting.text.table, [planting.name('cell'), planting.email('cell of mail')]];
  const cells = rows.flatMap((row, y) =>
    row.map((cell, x) => `BT /F 9 Tf ${60 + x * 160} ${420 - y * 20} Td ${font.hex(cell)} Tj ET`),
  );
  const rules = rows.map((_, y) => `60 ${414 - y * 20} m 535 ${414 - y * 20} l S`);
  addContent(page, [...cells, '0.5 w', ...rules].join('\n'));
}

function writeFoot(page: PDFPage, font: PDFFont, planting: Planting): void {
  page.drawText(ascii(planting.entry('foot of a page')), { x: 60, y: 60, size: 8, font });
}

async function drawLogo(document: PDFDocument, page: PDFPage): Promise<void> {
  const picture = sharp({ create: { width: 90, height: 40, channels: 3, background: '#3366aa' } });
  page.drawImage(await document.embedJpg(await picture.jpeg().toBuffer()), { x: 440, y: 200, width: 90, height: 40 });
}

function link({ context }: PDFDocument, page: PDFPage, planting: Planting): void {
  const action = context.obj({ S: 'URI' });
  action.set(PDFName.of('URI'), PDFString.of(`mailto:${planting.email('link')}`));
  page.node.addAnnot(
    context.register(context.obj({ Type: 'Annot', Subtype: 'Link', Rect: [60, 100, 120, 112], A: action })),
  );
}

function addContent({ doc: { context }, node }: PDFPage, operators: string): void {
  node.addContentStream(context.register(context.flateStream(Buffer.from(operators))));
}
