import type { Leaf } from '#wire/codec.ts';
import type { Span } from './detector.ts';

/** A stretch of a leaf, and where it stands in the text of a joint. */
interface Piece {
  readonly leaf: number;
  /** Where it begins in the leaf. */
  readonly from: number;
  readonly start: number;
  readonly end: number;
}

/** The end of one text and the beginning of those that a model reads next, as one text. */
export interface Joint {
  readonly text: string;
  readonly pieces: readonly Piece[];
}

/** So much of a text is looked at on each side of a joint; a shorter text is a piece of what goes on behind it. */
export const REACH = 96;
const MOST_PIECES = 48;
export const LONGEST = 512;

/** Members whose values are words of the format and not read as text. */
const FORMAT: ReadonlySet<string> = new Set([
  ...['role', 'type', 'name', 'id', 'user', 'model', 'status', 'object', 'detail', 'format', 'effort', 'ttl', 'voice'],
  ...['mime_type', 'mimeType', 'media_type', 'mediaType', 'service_tier', 'tool_choice', 'reasoning_effort'],
]);
/** What a value may go on with. */
const BEGINS = /^(?:[A-Za-z\d@.+_-]|[\p{L}\p{M}])/u;

/** What a reader passes by: a text of nothing else stands between no two others. */
const UNSEEN = /^[\s\p{Default_Ignorable_Code_Point}]*$/u;

/** A text that a model reads. */
export interface ReadText {
  readonly text: string;
  readonly leaf: number;
  /** Nothing in it tells of what is looked for, as far as it was asked. */
  saysNothing: boolean | undefined;
}

/** Texts that a model reads as such, in order. `source`: the document, which tells names of members from texts. */
export function textsOf(
  leaves: readonly Leaf[],
  isOfSource: (leaf: Leaf) => boolean,
  source: string,
): readonly ReadText[] {
  const read: ReadText[] = [];
  let isRead = true;
  for (let index = 0; index < leaves.length; index += 1) {
    const leaf = leaves[index]!;
    const { node, text, signed } = leaf;
    if (node.kind !== 'string' || signed || !isOfSource(leaf)) continue;
    if (isName(source, node.end)) isRead = !FORMAT.has(text) && !text.endsWith('_id');
    else if (isRead && !isUnseen(text)) read.push({ text, leaf: index, saysNothing: undefined });
  }
  return read;
}

function isUnseen(text: string): boolean {
  return text.length <= REACH && UNSEEN.test(text);
}

function isName(source: string, end: number): boolean {
  let at = end;
  while (source.charCodeAt(at) <= 32) at += 1;
  return source.charCodeAt(at) === 58;
}

/** The end of a text with the beginning of those behind it; undefined where they do not go on. */
export function joined(read: readonly ReadText[], first: number, separator: string): Joint | undefined {
  const pieces: Piece[] = [];
  let text = '';
  for (let at = first; at < read.length && pieces.length < MOST_PIECES && text.length < LONGEST; at += 1) {
    const { text: whole, leaf } = read[at]!;
    const isFirst = at === first;
    const trimmed = isFirst ? whole.slice(-REACH - 1).trimEnd() : whole.slice(0, REACH + 1).trimStart();
    const piece = isFirst ? trimmed.slice(-REACH) : trimmed.slice(0, REACH);
    if (at === first + 1 && !BEGINS.test(piece)) return undefined;
    if (!isFirst) text += separator;
    const from = isFirst
      ? Math.max(0, whole.length - REACH - 1) + trimmed.length - piece.length
      : Math.min(whole.length, REACH + 1) - trimmed.length;
    pieces.push({ leaf, from, start: text.length, end: text.length + piece.length });
    text += piece;
    if (!isFirst && whole.length > REACH) break;
  }
  return pieces.length > 1 ? { text, pieces } : undefined;
}

/** A part of a find, in one of the leaves that it crosses. */
export interface Half extends Span {
  readonly leaf: number;
}

/** The parts of a find in a joint, where they stand in their leaves. */
export function halvesOf({ pieces }: Joint, { start, end, category, term }: Span): readonly Half[] {
  return pieces
    .filter((piece) => piece.start < end && piece.end > start)
    .map((piece) => ({
      leaf: piece.leaf,
      start: piece.from + Math.max(start, piece.start) - piece.start,
      end: piece.from + Math.min(end, piece.end) - piece.start,
      category,
      ...(term !== undefined && { term }),
    }));
}

/** Whether a stretch of a text is known to be such a find, or a part of one. */
export function isKnown(own: readonly Span[], { start, end, category }: Span): boolean {
  return own.some((span) => span.category === category && span.start < end && span.end > start);
}
