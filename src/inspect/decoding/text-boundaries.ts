import type { Leaf } from '#/wire/hub/codec.ts';
import type { Steps } from '#/wire/document/steps.ts';
import { isAlphanumeric, isLetter } from '../detectors/characters.ts';
import { united, type Match } from '../match.ts';
import { AT_WORDS, DOT_WORDS } from './spelled-addresses.ts';

/** A stretch of a leaf, and where it stands in the text of a boundary. */
interface Piece {
  readonly leaf: number;
  /** Where it begins in the leaf. */
  readonly from: number;
  readonly start: number;
  readonly end: number;
}

/** The end of one text and the beginning of those that a model reads next, as one text. */
export interface Boundary {
  readonly text: string;
  readonly pieces: readonly Piece[];
}

/** Characters to check on each side of a boundary; a shorter text is joined with the text after it. */
const REACH = 96;
const MOST_PIECES = 48;
const LONGEST = 512;

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
/** Markers of list items, and dots that stand for omissions. */
const MARKER = /^(?:[-*+•] |\d{1,2}[.)] |\.{2,})/;
/** More of it ends no text that goes on. */
const MOST_PASSED = 512;

/** What a reader passes by: a text of nothing else stands between no two others. */
const UNSEEN = /^[\s\p{Default_Ignorable_Code_Point}]*$/u;

/** A text that a model reads. */
export interface ReadText {
  readonly text: string;
  readonly leaf: number;
  /** No detector's prefilter matches it, as far as it was checked. */
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
export function joined(
  read: readonly ReadText[],
  first: number,
  separator: string,
  plain: boolean,
): Boundary | undefined {
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
function hasPassed({ text: first }: ReadText, { text: second }: ReadText): boolean {
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
export interface PartMatch extends Match {
  readonly leaf: number;
}

/** The parts of a find in a boundary, where they stand in their leaves. */
export function partsOf({ pieces }: Boundary, { start, end, category, term }: Match): readonly PartMatch[] {
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
export function isKnown(own: readonly Match[], { start, end, category }: Match): boolean {
  return own.some((match) => match.category === category && match.start < end && match.end > start);
}

const JOINTS_A_STEP = 64;

/** What tells that a text may have one of those that are looked for. */
const TELLING =
  /@|[%=]40|\\u|\\x|&#|&commat;|[[({<] ?at ?[\])}>]|(?:\d[^\d\n]{0,3}){7}|(?:sk|pk|rk|gh[a-z]|glpat|xox[a-z]|AKIA|AIza|SG)[-_.A-Z\d]/;
const DIGIT_NEAR = /[\dA-Z][^\p{L}\d]{0,3}$/u;
const DIGIT_FIRST = /^[^\p{L}\d]{0,3}(?:\d|[A-Z\d]{4})/u;

/**
 * Where one text ends and the next begins: parts of a message, messages, blocks of a system prompt, results of tools. Only
 * those where an address, a number or a secret may go on, each once joined directly and, among digits, with a blank.
 * `source`: the document, which tells names of members from texts.
 */
export function* boundariesOf(
  leaves: readonly Leaf[],
  isOfSource: (leaf: Leaf) => boolean,
  source: string,
): Steps<readonly Boundary[]> {
  const boundaries: Boundary[] = [];
  const read = textsOf(leaves, isOfSource, source);
  for (let at = 0, step = 1, looked = 0; at < read.length - 1; at += step) {
    if (++looked % JOINTS_A_STEP === 0) yield;
    step = 1;
    if (!mayTell(read[at]!, read[at + 1]!)) continue;
    // As they are written, and without what readers pass by there.
    const isPlain = hasPassed(read[at]!, read[at + 1]!);
    for (const plain of isPlain ? [false, true] : [false]) {
      const bare = joined(read, at, '', plain);
      if (bare === undefined) continue;
      const [{ end }] = bare.pieces as readonly [Piece, ...Piece[]];
      if (!mayGoOn(bare.text.charCodeAt(end - 1))) continue;
      // Rows of short texts overlap by half of them, so that many of them cost no more than their length.
      const half = Math.max(1, bare.pieces.length >> 1);
      step = plain && step > 1 ? Math.min(step, half) : half;
      if (!hasSign(bare.text)) continue;
      const [tail, head] = [bare.text.slice(0, end), bare.text.slice(end)];
      // A stretch of it, which costs no copy.
      if (!TELLING.test(bare.text.slice(nearFrom(tail), end + nearTo(head)))) continue;
      boundaries.push(bare);
      if (!DIGIT_NEAR.test(tail) || !DIGIT_FIRST.test(head)) continue;
      const spaced = joined(read, at, ' ', plain);
      if (spaced) boundaries.push(spaced);
    }
  }
  return boundaries;
}

/** No word for a sign of an address, which stands among its parts. */
const PLAIN_WORD = `(?!(?:${AT_WORDS}|${DOT_WORDS})[\\s.,;:!?])[A-Za-z\u00c0-\u017f']{1,40}[.,;:!?]?`;
/** Two plain words in a row, which no address, number or secret has: whatever stands before them ends there. */
const PLAIN_WORDS = new RegExp(`(?<!\\S)${PLAIN_WORD}\\s${PLAIN_WORD}(?=\\s)`, 'gi');

/** How far into a text may reach what begins before it. */
function nearTo(text: string): number {
  PLAIN_WORDS.lastIndex = 0;
  return PLAIN_WORDS.test(text) ? PLAIN_WORDS.lastIndex : text.length;
}

/** From where in a text may begin what ends behind it. */
function nearFrom(text: string): number {
  let from = 0;
  PLAIN_WORDS.lastIndex = 0;
  for (let end = 0; PLAIN_WORDS.test(text); end = PLAIN_WORDS.lastIndex) from = end;
  return from;
}

/** What every `TELLING` text has one of, in classes so small that the engine looks at many characters at once. */
const SIGNS = /[\d@\\%&=]/;
const BRACKETS = /[[({<]/;
const SECRETS = /[-_.A-Z](?<=(?:sk|pk|rk|gh[a-z]|glpat|xox[a-z]|AKIA|AIza|SG)[^])/;
const BEHIND_SECRET = /[-_.A-Z]/;
/** The longest of what secrets begin with, and what follows on it. */
const LONGEST_BEGINNING = 6;
const BLANK = 32;

/**
 * Whether the boundary of two texts may be `TELLING`: never wrong in saying no, and without making it. Where a text goes on in
 * several behind it, and where characters beyond ASCII may be blanks, that is not told here.
 */
function mayTell(first: ReadText, second: ReadText): boolean {
  if (second.text.length <= REACH || second.text.length > LONGEST || first.text.length > LONGEST) return true;
  if (!saysNothing(first) || !saysNothing(second)) return true;
  let end = first.text.length - 1;
  while (end > 0 && first.text.charCodeAt(end) <= BLANK) end -= 1;
  let head = 0;
  while (head < REACH && second.text.charCodeAt(head) <= BLANK) head += 1;
  const last = first.text.charCodeAt(end);
  if (last > 127 || second.text.charCodeAt(head) > 127) return true;
  // A secret may begin in one and go on in the other.
  const from = isLetter(last) ? head : head + 1;
  return BEHIND_SECRET.test(second.text.slice(from, head + LONGEST_BEGINNING));
}

function saysNothing(read: ReadText): boolean {
  return (read.saysNothing ??= !hasSign(read.text));
}

function hasSign(text: string): boolean {
  return SIGNS.test(text) || BRACKETS.test(text) || SECRETS.test(text);
}

/** Letters, digits, signs of addresses and of secrets, and what closes a bracket around one. */
const GOING_ON = new Set(Array.from('@.+_-])}', (sign) => sign.charCodeAt(0)));

function mayGoOn(code: number): boolean {
  return isAlphanumeric(code) || code > 127 || GOING_ON.has(code);
}

/** Kinds that are recognized without context, however they are split. */
const KINDS: ReadonlySet<string> = new Set([
  'EMAIL',
  'IBAN',
  'CREDIT_CARD',
  'PHONE',
  'NATIONAL_ID',
  'TAX_ID',
  'BANK_ACCOUNT',
  'SECRET',
]);

/** The matches of each leaf with those that cross its boundaries. A match that is whole on one side has no other half. */
export function withBoundaryMatches(
  matches: readonly (readonly Match[])[],
  boundaries: readonly Boundary[],
  found: readonly (readonly Match[])[],
): readonly (readonly Match[])[] {
  const more = new Map<number, Match[]>();
  for (const [index, boundary] of boundaries.entries()) {
    for (const match of found[index] ?? []) {
      if (!KINDS.has(match.category)) continue;
      const halves = partsOf(boundary, match);
      if (halves.length < 2 || halves.some((half) => isKnown(matches[half.leaf] ?? [], half))) continue;
      for (const { leaf, ...half } of halves) more.set(leaf, [...(more.get(leaf) ?? []), half]);
    }
  }
  return more.size === 0 ? matches : matches.map((own, leaf) => withHalves(own, more.get(leaf)));
}

/** Of two names for the same stretch, that of the whole counts. */
function withHalves(own: readonly Match[], halves: readonly Match[] | undefined): readonly Match[] {
  return halves ? united(halves, own) : own;
}
