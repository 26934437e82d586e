import type { DocumentFile, ReadDocument, RedactedDocument, RedactOptions } from '#ports/documents.ts';
import { DocumentFault } from '#ports/documents.ts';
import { decodeText } from '../decode-text.ts';
import type { Format } from '../format.ts';
import { leftOver, Search } from '../search.ts';
import {
  checkLayout,
  fixedSlot,
  inOrder,
  layoutOf,
  replaceIn,
  toTextUnits,
  type Slot,
  type SlottedUnit,
} from '../slots.ts';
import { parseCsv } from './csv.ts';
import { paragraphsOf, undisguised, unmarked, withoutData } from './paragraphs.ts';

/** Cells or paragraphs of one text. */
const MAX_UNITS = 1_000_000;

/**
 * Plain text, Markdown and separated values, told apart by `mediaType`. Units are paragraphs or cells. UTF-8 and UTF-16
 * stay what they are, anything else becomes UTF-8. Formulas in cells stay as they are.
 */
export const text: Format = { read, redact };

interface Parsed {
  readonly kind: 'text' | 'markdown' | 'csv';
  readonly slots: readonly Slot[];
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
  const { units, slots, write, files } = parse(file);
  checkLayout(options.layout, units);
  const search = new Search(options, units);
  replaceIn(units, options.replacements);
  search.sweep(slots.map((slot) => [slot]));
  const bytes = write();
  const again = decodeText(bytes).text;
  if (search.isIn(again) || search.isIn(undisguised(again))) throw leftOver();
  for (const slot of parse({ ...file, bytes }).slots) if (search.isIn(slot.text)) throw leftOver();
  return { bytes, mediaType: file.mediaType, pages: 1, images: files, downgraded: false };
}

function parse({ bytes, mediaType }: DocumentFile): Parsed {
  const decoded = decodeText(bytes);
  const { text: content, files } = withoutData(decoded.text);
  const kind = /csv|tab-separated/.test(mediaType) ? 'csv' : mediaType === 'text/markdown' ? 'markdown' : 'text';
  const { slots, write } = takeApart(content, kind, mediaType);
  if (slots.length > MAX_UNITS) throw new DocumentFault('too_large', 'the document has too many cells or paragraphs');
  const shown = slots.map((slot): SlottedUnit => ({ slots: [slot], visibility: 'shown' }));
  const units = inOrder(kind === 'markdown' ? [...shown, ...unmarkedUnits(slots)] : shown);
  return { kind, slots, units, files, write: () => decoded.encode(write()) };
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
): { readonly slots: readonly Slot[]; readonly write: () => string } {
  if (kind !== 'csv') return paragraphsOf(content, kind === 'markdown');
  const { cells, write } = parseCsv(content, mediaType);
  return { slots: cells, write };
}
