import { crc32 } from 'node:zlib';
import { PDFDocument, PDFName } from '@cantoo/pdf-lib';
import sharp, { type Sharp } from 'sharp';
import { paper, printText, worn } from '../../harness/printed-page.ts';
import { ascii } from './people.ts';
import type { CorpusDocument, Planting } from './planting.ts';
import { embedGlyphFont } from './type0-font.ts';

const DPI = 150;
const A4 = { width: 595, height: 842 };

/** What can happen to paper on its way to a scanner. */
const WEAR = ['clean', 'worn', 'skewed', 'noisy', 'pale', 'turned', 'upside down'] as const;
type Wear = (typeof WEAR)[number];

/** Types of pictures, with what their metadata can be written in. */
const TYPES = ['png', 'jpeg', 'tiff', 'webp', 'gif'] as const;

/** A page of print as a picture, its file full of metadata. */
export async function scannedPicture(planting: Planting): Promise<CorpusDocument> {
  const wear = planting.random.pick(WEAR);
  const type = planting.random.pick(TYPES);
  const page = await paperOf(planting, wear);
  const bytes = await withMetadata(page, type, planting);
  return {
    name: `${wear}.${type}`,
    mediaType: `image/${type}`,
    bytes,
    scanned: true,
    ...planting.done(shownIn(planting)),
  };
}

/** Scanned pages as PDF, some with an invisible layer of text as recognition leaves it. */
export async function scannedPdf(planting: Planting): Promise<CorpusDocument> {
  const wear = planting.random.pick(WEAR);
  const layered = planting.random.chance(1 / 3) && (wear === 'clean' || wear === 'noisy');
  const said: string[] = [];
  const page = await paperOf(planting, wear, said);
  const document = await PDFDocument.create();
  document.setAuthor(planting.name('author'));
  const jpeg = await page
    .withExif({ IFD0: { Artist: ascii(planting.name('EXIF of a picture')) } })
    .jpeg({ quality: 80 })
    .toBuffer();
  const image = await document.embedJpg(jpeg);
  const { width, height } = image.width > image.height ? { width: A4.height, height: A4.width } : A4;
  const sheet = document.addPage([width, height]);
  sheet.drawImage(image, { x: 0, y: 0, width, height });
  if (layered) addLayer(document, sheet, said);
  const bytes = await document.save({ useObjectStreams: planting.random.chance(1 / 2) });
  const name = `${wear}${layered ? ' with a layer' : ''}.pdf`;
  return { name, mediaType: 'application/pdf', bytes, scanned: true, ...planting.done(shownIn(planting)) };
}

type Sheet = ReturnType<PDFDocument['addPage']>;

function addLayer(document: PDFDocument, sheet: Sheet, said: readonly string[]): void {
  const { context } = document;
  const font = embedGlyphFont(context, 'Invisible', '');
  sheet.node.setFontDictionary(PDFName.of('F'), font.ref);
  const lines = said.map((line) => `${font.hex(line)} Tj 0 -30 Td`);
  const operators = `BT 3 Tr /F 6 Tf 72 ${A4.height - 80} Td ${lines.join('\n')} ET`;
  sheet.node.addContentStream(context.register(context.flateStream(Buffer.from(operators))));
}

function shownIn({ text }: Planting): readonly string[] {
  return [text.heading, ...text.paragraphs, ...text.list];
}

/** A letter on paper; what it says is added to `said`, line by line. */
async function paperOf(planting: Planting, wear: Wear, said: string[] = []): Promise<Sharp> {
  const { text } = planting;
  const paragraphs = [
    planting.sentence('first line'),
    ...text.paragraphs.slice(0, 2),
    planting.again(),
    planting.sentence('last line'),
    planting.again(),
  ];
  said.push(text.heading, ...paragraphs, ...text.list);
  const printed = await printText(paper(DPI), { ...text, paragraphs, table: [] });
  return touched(printed, wear, planting);
}

async function touched(page: Sharp, wear: Wear, { random }: Planting): Promise<Sharp> {
  switch (wear) {
    case 'worn':
      return sharp(await worn(page));
    case 'skewed':
      return page.rotate(random.pick([-4, -2.5, 2, 3.5]), { background: '#ffffff' });
    case 'noisy':
      return speckled(page, random.whole(0, 1 << 30));
    case 'pale':
      return page.linear(0.35, 150);
    case 'turned':
      return page.rotate(random.pick([90, 270]));
    case 'upside down':
      return page.rotate(180);
    default:
      return page;
  }
}

/** Grey paper with dust on it. */
async function speckled(page: Sharp, from: number): Promise<Sharp> {
  const { data, info } = await page.greyscale().toColourspace('b-w').raw().toBuffer({ resolveWithObject: true });
  let seed = from;
  for (let at = 0; at < data.length; at++) {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    const speck = (seed >> 8) % 400 === 0;
    data[at] = speck ? 60 : Math.max(0, Math.min(225, (data[at] ?? 0) + ((seed >> 16) % 50) - 25));
  }
  return sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels } });
}

async function withMetadata(page: Sharp, type: (typeof TYPES)[number], planting: Planting): Promise<Uint8Array> {
  const told = (place: string): string => ascii(planting.entry(place));
  let described = sharp(await page.png().toBuffer()).withMetadata({ density: DPI });
  if (type !== 'gif') described = described.withXmp(xmpOf(told('XMP')));
  if (type !== 'gif' && type !== 'tiff')
    described = described.withExifMerge({ IFD0: { Artist: told('EXIF'), Copyright: told('copyright') } });
  const bytes = await described.toFormat(type).toBuffer();
  switch (type) {
    case 'jpeg':
      return withSegments(bytes, told('comment'), told('IPTC'), told('thumbnail'));
    case 'png':
      return withChunk(bytes, `Author\0${told('text chunk')}`);
    case 'gif':
      return withGifComment(bytes, told('comment'));
    default:
      // What stands behind the picture no reader of pictures sees.
      return Buffer.concat([bytes, Buffer.from(told('bytes behind the end'))]);
  }
}

function xmpOf(creator: string): string {
  return `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:creator="${creator}"/></rdf:RDF></x:xmpmeta>`;
}

/** A comment, a block of press metadata and a copy of old in front of everything else. // JPEG, B.2.4; IPTC-IIM, 2:80 */
function withSegments(jpeg: Buffer, comment: string, byline: string, thumbnail: string): Buffer {
  const segment = (marker: number, content: Buffer): Buffer => {
    const head = Buffer.from([0xff, marker, 0, 0]);
    head.writeUInt16BE(content.length + 2, 2);
    return Buffer.concat([head, content]);
  };
  const field = Buffer.concat([Buffer.from([0x1c, 2, 80, 0, byline.length]), Buffer.from(byline)]);
  const block = Buffer.concat([
    Buffer.from('Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0', 'latin1'),
    Buffer.from([field.length]),
    field,
    Buffer.alloc(field.length % 2),
  ]);
  const copy = Buffer.concat([Buffer.from('JFXX\0\x13\x01\x01', 'latin1'), Buffer.from(thumbnail)]);
  return Buffer.concat([
    jpeg.subarray(0, 2),
    segment(0xfe, Buffer.from(comment)),
    segment(0xed, block),
    segment(0xe0, copy),
    jpeg.subarray(2),
  ]);
}

/** A chunk of text right before the end. // PNG, 11.3.4 */
function withChunk(png: Buffer, text: string): Buffer {
  const content = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const end = png.length - 12;
  return Buffer.concat([
    png.subarray(0, end),
    length,
    Buffer.from('tEXt'),
    content,
    crcOf(Buffer.concat([Buffer.from('tEXt'), content])),
    png.subarray(end),
  ]);
}

function crcOf(bytes: Buffer): Buffer {
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(bytes) >>> 0);
  return crc;
}

/** A comment right before the end. // GIF89a, 24 */
function withGifComment(gif: Buffer, comment: string): Buffer {
  const block = Buffer.concat([Buffer.from([0x21, 0xfe, comment.length]), Buffer.from(comment), Buffer.from([0])]);
  return Buffer.concat([gif.subarray(0, -1), block, gif.subarray(-1)]);
}
