import type { Leaf } from '#/wire/hub/codec.ts';
import type { Span } from '../detectors/detector.ts';
import { isAlphanumeric } from '../detectors/characters.ts';

/** A stretch of a leaf, and where it stands in the text of a joint. */
export interface Piece {
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
  // Addresses of media, which stand between texts.
  ...['url', 'image_url', 'file_url'],
]);
/** What a value may go on with. */
const BEGINS = /^(?:[A-Za-z\d@.+_-]|[\p{L}\p{M}]|[[({] ?at ?[\])}])/u;
/** Beyond ASCII, what readers pass by where a text ends or begins: no letter and no digit. */
const PASSED = /[^\p{L}\p{M}\p{N}]|\p{Default_Ignorable_Code_Point}/u;
/** How items of a list begin, and dots that stand for what is left out. */
const MARKER = /^(?:[-*+•] |\d{1,2}[.)] |\.{2,})/;
/** More of it ends no text that goes on. */
const MOST_PASSED = 512;

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

/**
 * The end of a text with the beginning of those behind it; undefined where they do not go on. `plain`: without signs that
 * readers pass by where one ends and the next begins, such as quotation marks, brackets and the beginnings of lists.
 */
export function joined(read: readonly ReadText[], first: number, separator: string, plain: boolean): Joint | undefined {
  const pieces: Piece[] = [];
  let text = '';
  for (let at = first; at < read.length && at - first < MOST_PIECES && text.length < LONGEST; at += 1) {
    const { text: whole, leaf } = read[at]!;
    const isFirst = at === first;
    const goesOn = isFirst || whole.length <= REACH;
    const from = isFirst ? 0 : beginOf(whole, plain);
    const to = Math.max(from, isFirst || (plain && goesOn) ? endOf(whole, plain) : whole.length);
    const start = isFirst ? Math.max(from, to - REACH) : from;
    const piece = whole.slice(start, isFirst ? to : Math.min(to, from + REACH));
    if (piece === '') {
      if (!plain || isFirst) return undefined;
      continue;
    }
    if (pieces.length === 1 && !BEGINS.test(piece)) return undefined;
    if (!isFirst) text += separator;
    pieces.push({ leaf, from: start, start: text.length, end: text.length + piece.length });
    text += piece;
    if (!goesOn) break;
  }
  return pieces.length > 1 ? { text, pieces } : undefined;
}

/** Whether `plain` makes a difference where one text ends and the next begins. */
export function hasPassed({ text: first }: ReadText, { text: second }: ReadText): boolean {
  return endOf(first, true) !== endOf(first, false) || beginOf(second, true) !== beginOf(second, false);
}

/** Where a text ends for who reads on behind it. `plain`: as of `joined`. */
export function endOf(text: string, plain: boolean): number {
  let end = text.length;
  const least = end - MOST_PASSED;
  while (end > 0 && end > least && (isBlank(text, end - 1) || (plain && isPassed(text, end - 1)))) end -= 1;
  if (plain && text.startsWith('...', end - 3)) return endOf(text.slice(0, end - 3).trimEnd(), false);
  return end;
}

/** Where it begins. */
export function beginOf(text: string, plain: boolean): number {
  const most = Math.min(text.length, MOST_PASSED);
  let at = 0;
  while (at < most) {
    if (isBlank(text, at)) at += 1;
    else if (!plain) break;
    else {
      const [marker] = MARKER.exec(text.slice(at, at + 4)) ?? [];
      if (marker !== undefined) at += marker.length;
      else if (isPassed(text, at)) at += 1;
      else break;
    }
  }
  return at;
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code <= 32 || (code > 127 && text.charAt(at).trim() === '');
}

function isPassed(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 128) return !isAlphanumeric(code) && code !== 64 && code !== 46 && code !== 43;
  return PASSED.test(text.charAt(at)) && (code & 0xf800) !== 0xd800;
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
