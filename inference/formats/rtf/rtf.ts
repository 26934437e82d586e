import type { DocumentFile, ReadDocument, ReadOptions, RedactedDocument, RedactOptions } from '#/ports/documents.ts';
import type { Format, Tools } from '../format.ts';
import { safePicture } from '../ooxml/pictures.ts';
import { leftOver, Search } from '../search.ts';
import { checkLayout, inOrder, layoutOf, replaceIn, textOf, toTextUnits } from '../slots.ts';
import { parseRtf, type Piece } from './parse.ts';

/** Rich text (.rtf). Rewritten from its text and formatting: styles, colours, fonts, fields and embedded files go. */
export const rtf: Format = { read, redact };

const HEAD = '{\\rtf1\\ansi\\ansicpg1252\\deff0\\uc1{\\fonttbl{\\f0\\fswiss Liberation Sans;}}';
const LINES = /.{1,128}/g;

async function read(file: DocumentFile, _: ReadOptions, tools: Tools): Promise<ReadDocument> {
  const { units: found, pictures } = parseRtf(file.bytes, () => tools.checkTime());
  const units = inOrder(found);
  return {
    kind: 'rtf',
    pages: 1,
    images: pictures,
    units: toTextUnits(units),
    recognizedPages: [],
    layout: layoutOf(units),
  };
}

async function redact(file: DocumentFile, options: RedactOptions, tools: Tools): Promise<RedactedDocument> {
  const checkTime = (): void => tools.checkTime();
  const { pieces, units: found } = parseRtf(file.bytes, checkTime);
  const units = inOrder(found);
  checkLayout(options.layout, units);
  const search = new Search(options, units);
  replaceIn(units, options.replacements);
  search.sweep(units.map(({ slots }) => slots));
  // As it is written, one text after the other, with all that is left out between them gone.
  search.sweep([pieces.flatMap((piece) => (piece.kind === 'text' ? [piece.slot] : []))]);
  const { text, images } = await write(pieces, checkTime);
  const bytes = Buffer.from(text, 'latin1');
  const again = parseRtf(bytes, checkTime);
  const said = again.units.map(({ slots }) => textOf(slots));
  const whole = again.pieces.map((piece) => (piece.kind === 'text' ? piece.slot.text : '')).join('');
  if (search.isIn(said.join('\n')) || search.isIn(whole)) throw leftOver();
  return { bytes, mediaType: file.mediaType, pages: 1, images, downgraded: false };
}

async function write(
  pieces: readonly Piece[],
  checkTime: () => void,
): Promise<{ readonly text: string; readonly images: number }> {
  const out = [HEAD];
  let images = 0;
  // The first and last brace are those of the whole.
  for (const piece of pieces.slice(1)) {
    if (piece.kind === 'code') out.push(piece.code);
    else if (piece.kind === 'text') out.push(escaped(piece.slot.text));
    else {
      checkTime();
      const safe = await safePicture(Buffer.from(piece.hex.replace(/\s+/g, ''), 'hex'), piece.mediaType);
      const blip = safe.mediaType === 'image/png' ? 'pngblip' : 'jpegblip';
      const lines = Buffer.from(safe.bytes).toString('hex').match(LINES) ?? [];
      out.push(`{\\pict\\${blip}${piece.size}\n${lines.join('\n')}}`);
      images++;
    }
  }
  return { text: out.join(''), images };
}

function escaped(text: string): string {
  return text.replace(/[\\{}]|[^ -~]/g, (sign) => {
    if (sign === '\t') return '\\tab ';
    if (sign === '\n') return '\\line ';
    if (/[\\{}]/.test(sign)) return `\\${sign}`;
    const code = sign.charCodeAt(0);
    return code < 0x20 ? '' : `\\u${code > 0x7fff ? code - 0x1_0000 : code}?`;
  });
}
