import type { DocumentFile, ReadDocument, RedactedDocument, RedactOptions } from '#/ports/documents.ts';
import { DocumentFault } from '#/ports/documents.ts';
import { decodeText } from '../decode-text.ts';
import type { Format } from '../format.ts';
import { leftOver, Search } from '../search.ts';
import {
  checkLayout,
  fixedSlot,
  inOrder,
  layoutOf,
  replaceIn,
  textOf,
  toTextUnits,
  type Slot,
  type SlottedUnit,
} from '../slots.ts';
import { parseCsv } from './csv.ts';
import { parseJson } from './json.ts';
import { paragraphsOf, undisguised, unfolded, unlinked, unmarked, withoutData } from './paragraphs.ts';

/** Cells or paragraphs of one text. */
const MAX_UNITS = 1_000_000;

/**
 * Plain text, Markdown and separated values, told apart by `mediaType`, and JSON, by its content. Units are paragraphs,
 * cells or stretches of JSON. UTF-8 and UTF-16 stay what they are, anything else becomes UTF-8. Formulas in cells stay as they are.
 */
export const text: Format = { read, redact };

interface Parsed {
  readonly kind: 'text' | 'markdown' | 'csv';
  /** Texts that are read as a whole: all slots, in order. */
  readonly texts: readonly (readonly Slot[])[];
  readonly units: readonly SlottedUnit[];
  /** Files within the text that were cut out. */
  readonly files: number;
  readonly write: () => Uint8Array;
}

async function read(file: DocumentFile): Promise<ReadDocument> {
  const { kind, units, files } = parse(file);
  return {
    kind,
    pages: 1,
    images: files,
    units: toTextUnits(units),
    recognizedPages: [],
    layout: layoutOf(units),
  };
}

async function redact(file: DocumentFile, options: RedactOptions): Promise<RedactedDocument> {
  const { kind, units, texts, write, files } = parse(file);
  checkLayout(options.layout, units);
  const search = new Search(options, units);
  replaceIn(units, options.replacements);
  // Of a name that is a link in part, the address of the link stands within the name.
  if (kind === 'markdown') for (const slot of texts.flat()) unlink(slot, search);
  search.sweep(texts);
  const bytes = write();
  const again = decodeText(bytes).text;
  if (search.isIn(again) || search.isIn(undisguised(again))) throw leftOver();
  for (const { slots } of parse({ ...file, bytes }).units) if (search.isIn(textOf(slots))) throw leftOver();
  return { bytes, mediaType: file.mediaType, pages: 1, images: files, downgraded: false };
}

function unlink(slot: Slot, search: Search): void {
  const plain = unlinked(slot.text);
  if (plain !== slot.text && search.isIn(plain)) slot.text = plain;
}

function parse({ bytes, mediaType }: DocumentFile): Parsed {
  const decoded = decodeText(bytes);
  const { text: content, files } = withoutData(unfolded(decoded.text));
  const kind = /csv|tab-separated/.test(mediaType) ? 'csv' : mediaType === 'text/markdown' ? 'markdown' : 'text';
  const { texts, write } = takeApart(content, kind, mediaType);
  if (texts.length > MAX_UNITS) throw new DocumentFault('too_large', 'the document has too many cells or paragraphs');
  const shown = texts.map((slots): SlottedUnit => ({ slots, visibility: 'shown' }));
  const units = inOrder(kind === 'markdown' ? [...shown, ...unmarkedUnits(texts.flat())] : shown);
  return { kind, texts, units, files, write: () => decoded.encode(write()) };
}

/** Paragraphs that marks stand in, without these: a name of which one word is bold is a name. */
function unmarkedUnits(slots: readonly Slot[]): readonly SlottedUnit[] {
  return slots.flatMap((slot): readonly SlottedUnit[] => {
    const plain = unmarked(slot.text);
    return plain === slot.text ? [] : [{ slots: [fixedSlot(plain)], visibility: 'hidden' }];
  });
}

function takeApart(
  content: string,
  kind: Parsed['kind'],
  mediaType: string,
): Pick<Parsed, 'texts'> & { readonly write: () => string } {
  const json = kind === 'text' ? parseJson(content) : undefined;
  if (json) return { texts: json.units, write: json.write };
  if (kind === 'csv') {
    const { cells, write } = parseCsv(content, mediaType);
    return { texts: cells.map((cell) => [cell]), write };
  }
  const { slots, write } = paragraphsOf(content, kind === 'markdown');
  return { texts: slots.map((slot) => [slot]), write };
}
