import type { Leaf } from '#/wire/hub/codec.ts';
import { COLON } from '#/wire/document/scan.ts';
import type { Steps } from '#/wire/document/steps.ts';
import { isAlphanumeric, isDigit } from '../detectors/characters.ts';
import type { Match, TextRange } from '../match.ts';

/** Members whose values are words of the format and not read as text. */
const FORMAT: ReadonlySet<string> = new Set([
  ...['role', 'type', 'name', 'id', 'user', 'model', 'status', 'object', 'detail', 'format', 'effort', 'ttl', 'voice'],
  ...['mime_type', 'mimeType', 'media_type', 'mediaType', 'service_tier', 'tool_choice', 'reasoning_effort'],
  // Addresses of media, which stand between texts.
  ...['url', 'image_url', 'file_url'],
]);
/** Beyond ASCII, what readers pass by where a text ends or begins: no letter and no digit. */
const PASSED = /[^\p{L}\p{M}\p{N}]|\p{Default_Ignorable_Code_Point}/u;
/** Markers of list items, and dots that stand for omissions. */
const MARKER = /^(?:[-*+•] |\d{1,2}[.)] |\.{2,})/;
/** Readers pass by no more than this at either end of a text. */
const MOST_PASSED = 512;
/** What a reader passes by: a text of nothing else stands between no two others. */
const UNSEEN = /^[\s\p{Default_Ignorable_Code_Point}]*$/u;
const LONGEST_UNSEEN = 96;

/** A text that a model reads, and its index among the leaves. */
export interface ReadText {
  readonly text: string;
  readonly leaf: number;
}

/** Texts that a model reads as such, in order. `source`: the document, which tells names of members from texts. */
export function textsOf(leaves: readonly Leaf[], source: string): readonly ReadText[] {
  const read: ReadText[] = [];
  let isRead = true;
  for (let index = 0; index < leaves.length; index += 1) {
    const { node, text, signed, inJson } = leaves[index]!;
    if (node.kind !== 'string' || signed || inJson) continue;
    let behind = node.end;
    while (source.charCodeAt(behind) <= 32) behind += 1;
    if (source.charCodeAt(behind) === COLON) isRead = isTextCalled(text);
    else if (isRead && !(text.length <= LONGEST_UNSEEN && UNSEEN.test(text))) read.push({ text, leaf: index });
  }
  return read;
}

/** The same of values in JSON within texts, such as arguments of tools. */
export function textsInJson(leaves: readonly Leaf[]): readonly ReadText[] {
  const read: ReadText[] = [];
  let isRead = true;
  for (let index = 0; index < leaves.length; index += 1) {
    const { node, text, signed, inJson } = leaves[index]!;
    if (inJson === undefined || signed || node.kind !== 'string') continue;
    if (inJson === 'name') isRead = isTextCalled(text);
    else if (isRead && !(text.length <= LONGEST_UNSEEN && UNSEEN.test(text))) read.push({ text, leaf: index });
  }
  return read;
}

function isTextCalled(name: string): boolean {
  return !FORMAT.has(name) && !name.endsWith('_id');
}

/**
 * Where a text ends for who reads on behind it. `plain`: without the signs that readers pass by there, such as quotation
 * marks and brackets.
 */
function endOf(text: string, plain: boolean): number {
  let end = text.length;
  const least = end - MOST_PASSED;
  while (end > 0 && end > least) {
    const isBlank = text.charCodeAt(end - 1) <= 32 || isWideBlank(text, end - 1);
    if (!isBlank && !(plain && isPassed(text, end - 1))) break;
    end -= 1;
  }
  if (plain && text.startsWith('...', end - 3)) return endOf(text.slice(0, end - 3).trimEnd(), false);
  return end;
}

/** Where a text begins. `plain`: without the signs that readers pass by there, such as the marker of a list item. */
function beginOf(text: string, plain: boolean): number {
  const most = Math.min(text.length, MOST_PASSED);
  let at = 0;
  while (at < most) {
    if (text.charCodeAt(at) <= 32 || isWideBlank(text, at)) at += 1;
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

/** Whether readers may pass by the signs that stand before `end`, where the text ends but for blanks. */
function mayEndPassed(text: string, end: number): boolean {
  return end > 0 && (isPassed(text, end - 1) || text.startsWith('...', end - 3));
}

/** Whether readers may pass by the signs that stand at `from`, where the text begins but for blanks. */
function mayBeginPassed(text: string, from: number): boolean {
  const code = text.charCodeAt(from);
  return from < text.length && (code === 46 || isDigit(code) || isPassed(text, from));
}

/** A blank outside ASCII. */
function isWideBlank(text: string, at: number): boolean {
  return text.charCodeAt(at) > 127 && text.charAt(at).trim() === '';
}

function isPassed(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 128) return !isAlphanumeric(code) && code !== 64 && code !== 46 && code !== 43;
  return PASSED.test(text.charAt(at)) && (code & 0xf800) !== 0xd800;
}

/** A stretch of a leaf, and where it stands in the text of a run. */
export interface Piece {
  readonly leaf: number;
  /** Where it begins in the leaf. */
  readonly from: number;
  readonly start: number;
  readonly end: number;
  /** Whether blanks, or signs that readers pass by, stand between it and the text before. */
  readonly apart: boolean;
}

/** Texts that a model reads one after the other, as one text: the end of one, short ones, the beginning of another. */
export interface TextRun {
  readonly text: string;
  readonly pieces: readonly Piece[];
  /** Whether it lacks signs that readers pass by where one text ends and the next begins; with them: may have such. */
  readonly passes: boolean;
  /** Whether its texts are values of JSON that stands in a text. */
  readonly inJson?: boolean;
  /** Whether a word in one of its texts may announce a login or password that goes on, or stands, in the next. */
  readonly announces?: boolean;
}

/**
 * The sign between two texts where something may go on from one in the other; undefined where nothing does. `left` and
 * `right`: the pieces of them in the run.
 */
export type Join = (left: string, right: string) => string | undefined;

/** Characters that count at each end of a text; the rest of a word there counts, too. */
const REACH = 96;
const LONGEST_WORD = 1024;
/** A longer run ends. The next one begins so many characters before its end. */
const LONGEST = 4096;
const OVERLAP = 1024;
const TEXTS_A_STEP = 64;

/**
 * Hands the runs of texts to `use`, in order. A text is in two of them at most. `plain`: without the signs that readers pass
 * by where one text ends and the next begins. Says whether there may be such signs.
 */
export function* runsOf(
  read: readonly ReadText[],
  plain: boolean,
  join: Join,
  use: (run: TextRun) => void,
): Steps<boolean> {
  let looked = 0;
  let mayPass = false;
  for (let first = 0; first < read.length - 1;) {
    const { text: whole, leaf } = read[first]!;
    const end = endOf(whole, plain);
    const from = tailFrom(whole, end);
    let last = whole.slice(from, end);
    let text = last;
    let passes = plain ? end !== endOf(whole, false) : mayEndPassed(whole, end);
    const pieces: Piece[] = [{ leaf, from, start: 0, end: text.length, apart: false }];
    let apart = end < whole.length;
    const places = [first];
    let next = first + 1;
    for (; next < read.length && text !== '' && text.length < LONGEST; next += 1) {
      if (++looked % TEXTS_A_STEP === 0) yield;
      const head = headOf(read[next]!.text, plain);
      passes ||= head.passes;
      apart ||= head.from > 0;
      if (head.from === head.to) continue;
      const said = read[next]!.text.slice(head.from, head.to);
      const between = join(last, said);
      if (between === undefined) break;
      const start = text.length + between.length;
      text += between + said;
      last = said;
      pieces.push({ leaf: read[next]!.leaf, from: head.from, start, end: text.length, apart });
      apart = head.to < read[next]!.text.length;
      places.push(next);
      if (!head.isWhole) break;
    }
    if (pieces.length > 1) use({ text, pieces, passes });
    mayPass ||= passes;
    first = text.length < LONGEST || next === read.length ? next : overlapping(pieces, places);
  }
  return mayPass;
}

/** The text that the run behind a full one begins with. */
function overlapping(pieces: readonly Piece[], places: readonly number[]): number {
  const { end } = pieces.at(-1)!;
  const at = pieces.findIndex(({ start }) => start >= end - OVERLAP);
  return places.at(at > 0 ? at : -1)!;
}

/** The piece of a text behind another one. */
interface Head {
  readonly from: number;
  readonly to: number;
  /** Whether the text ends there, so that the next one follows on it. */
  readonly isWhole: boolean;
  /** Whether it lacks signs that readers pass by. */
  readonly passes: boolean;
}

function headOf(text: string, plain: boolean): Head {
  const from = beginOf(text, plain);
  const end = Math.max(from, endOf(text, plain));
  let to = Math.min(end, from + REACH);
  const most = Math.min(end, to + LONGEST_WORD);
  while (to < most && isOfWord(text.charCodeAt(to)) && isOfWord(text.charCodeAt(to - 1))) to += 1;
  const isWhole = to === end;
  const passes = plain
    ? from !== beginOf(text, false) || (isWhole && end !== endOf(text, false))
    : mayBeginPassed(text, from) || (isWhole && mayEndPassed(text, end));
  return { from, to, isWhole, passes };
}

function tailFrom(text: string, end: number): number {
  let from = Math.max(0, end - REACH);
  const least = Math.max(0, from - LONGEST_WORD);
  while (from > least && isOfWord(text.charCodeAt(from)) && isOfWord(text.charCodeAt(from - 1))) from -= 1;
  return from;
}

/** Letters, digits and signs of which addresses and secrets are made. */
function isOfWord(code: number): boolean {
  return isAlphanumeric(code) || code === 45 || code === 95 || code === 46 || code === 43 || code === 47 || code === 61;
}

/** Characters before and behind what may be a value, which detectors look at to know it. */
const AROUND = 96;

/** What a piece says. */
export function saidIn(text: string, { start, end }: Piece): string {
  return text.slice(start, end);
}

/** The pieces from one to another as a run of their own, with what detectors look at around them. */
export function stretchOf(run: TextRun, from: number, to: number): TextRun {
  const { text, pieces } = run;
  let first = from;
  while (first > 0 && pieces[from]!.start - pieces[first]!.start < AROUND) first -= 1;
  let last = to;
  while (last < pieces.length - 1 && pieces[last]!.end - pieces[to]!.end < AROUND) last += 1;
  const { start } = pieces[first]!;
  return {
    ...run,
    text: text.slice(start, pieces[last]!.end),
    pieces: pieces
      .slice(first, last + 1)
      .map((piece) => ({ ...piece, start: piece.start - start, end: piece.end - start })),
  };
}

/** The same run with a blank before each piece that `isSpaced`. */
export function spaced(run: TextRun, isSpaced: (at: number) => boolean): TextRun {
  const { text, pieces } = run;
  let blanks = 0;
  let written = '';
  const moved = pieces.map((piece, at) => {
    const isApart = at > 0 && isSpaced(at);
    if (isApart) blanks += 1;
    written += (isApart ? ' ' : '') + saidIn(text, piece);
    return { ...piece, start: piece.start + blanks, end: piece.end + blanks };
  });
  return { ...run, text: written, pieces: moved };
}

/** A part of a find, in one of the leaves that it crosses. */
export interface PartMatch extends Match {
  readonly leaf: number;
}

/** The pieces of a run that a range of its text is in. */
export function piecesIn({ pieces }: TextRun, { start, end }: TextRange): readonly Piece[] {
  let low = 0;
  for (let high = pieces.length; low < high;) {
    const middle = (low + high) >> 1;
    if (pieces[middle]!.end > start) high = middle;
    else low = middle + 1;
  }
  let until = low;
  while (until < pieces.length && pieces[until]!.start < end) until += 1;
  return pieces.slice(low, until);
}

/** The parts of a find in a run, where they stand in their leaves. */
export function partsOf(run: TextRun, match: Match): readonly PartMatch[] {
  const { start, end, category, term } = match;
  return piecesIn(run, match).map((piece) => ({
    leaf: piece.leaf,
    start: piece.from + Math.max(start, piece.start) - piece.start,
    end: piece.from + Math.min(end, piece.end) - piece.start,
    category,
    ...(term !== undefined && { term }),
  }));
}

/** Whether a stretch of a text is known to be such a find, or a part of one. */
export function isKnown(own: readonly Match[], { start, end, category }: Match): boolean {
  return own.some((match) => match.category === category && match.start < end && match.end > start);
}
