import { serialize } from 'parse5';
import type { DocumentFile, ReadDocument, ReadOptions, RedactedDocument, RedactOptions } from '#/ports/documents.ts';
import { decodeText } from '../decode-text.ts';
import type { Format, Tools } from '../format.ts';
import { identifierUnits } from '../identifiers.ts';
import { leftOver, Search } from '../search.ts';
import { checkLayout, inOrder, layoutOf, replaceIn, toTextUnits, type SlottedUnit } from '../slots.ts';
import { cleanDocument } from './clean.ts';
import { readSaid, type Said } from './said.ts';
import { parseHtml, type Document } from './tree.ts';

/** Pages of HTML. The result is UTF-8, without scripts, style sheets, frames, comments and addresses of images. */
export const html: Format = { read, redact };

const HEAD_BYTES = 1024;
const CHARSET =
  /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]{1,40})|^<\?xml[^>]{0,100}encoding\s*=\s*["']([\w.-]{1,40})/i;
const PICTURE = /src="data:[^"]*"/g;

async function read(file: DocumentFile, _: ReadOptions, tools: Tools): Promise<ReadDocument> {
  const text = decode(file.bytes);
  const units = unitsOf(readSaid(parseHtml(text, () => tools.checkTime())));
  return {
    kind: 'html',
    pages: 1,
    images: (text.match(/<img\b/gi) ?? []).length,
    units: toTextUnits(units),
    recognizedPages: [],
    layout: layoutOf(units),
  };
}

async function redact(file: DocumentFile, options: RedactOptions, tools: Tools): Promise<RedactedDocument> {
  const checkTime = (): void => tools.checkTime();
  const document = parseHtml(decode(file.bytes), checkTime);
  const units = unitsOf(readSaid(document));
  checkLayout(options.layout, units);
  const search = new Search(options, units);
  replaceIn(units, options.replacements);
  sweep(readSaid(document), search);
  const images = await cleanDocument(document, checkTime);
  // Once more: removed text may have separated two halves.
  sweep(readSaid(document), search);
  const text = `<!DOCTYPE html>\n${serialize(document, { scriptingEnabled: false })}`;
  verify(text, search, checkTime);
  return { bytes: Buffer.from(text), mediaType: 'text/html', pages: 1, images, downgraded: false };
}

function unitsOf({ units, identifiers }: Said): readonly SlottedUnit[] {
  return inOrder([...units, ...identifierUnits(identifiers.map(({ text }) => text))]);
}

function sweep({ units, identifiers }: Said, search: Search): void {
  search.sweep(units.map(({ slots }) => slots));
  search.sweepIdentifiers(identifiers);
}

/** Reads the result as a browser does, and as a search through the file would. */
function verify(text: string, search: Search, checkTime: () => void): void {
  const again: Document = parseHtml(text, checkTime);
  const { units, identifiers } = readSaid(again);
  const said = units.map(({ slots }) => slots.map((slot) => slot.text).join('')).join('\n');
  const values = identifiers.map((slot) => slot.text);
  const bare = text.replace(PICTURE, '').replace(/<[^<>]*>/g, '');
  if (search.isIn(said) || search.isIn(bare) || search.isInIdentifiers(values)) throw leftOver();
}

function decode(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1');
  const [, meta, xml] = CHARSET.exec(head) ?? [];
  const said = (meta ?? xml)?.toLowerCase();
  // A file whose head can be read byte by byte is not in UTF-16, whatever it says.
  return decodeText(bytes, said?.startsWith('utf-16') ? undefined : said).text;
}
