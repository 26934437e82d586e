import type { Leaf } from '#/wire/hub/codec.ts';
import type { Steps } from '#/wire/document/steps.ts';
import type { Span } from '../detectors/detector.ts';
import { isAlphanumeric, isLetter } from '../detectors/characters.ts';
import {
  halvesOf,
  hasPassed,
  isKnown,
  joined,
  LONGEST,
  REACH,
  textsOf,
  type Joint,
  type Piece,
  type ReadText,
} from './joint-texts.ts';
import { united } from '../merge.ts';
import { AT_WORDS, DOT_WORDS } from './spelled-addresses.ts';

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
export function* jointsOf(
  leaves: readonly Leaf[],
  isOfSource: (leaf: Leaf) => boolean,
  source: string,
): Steps<readonly Joint[]> {
  const joints: Joint[] = [];
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
      joints.push(bare);
      if (!DIGIT_NEAR.test(tail) || !DIGIT_FIRST.test(head)) continue;
      const spaced = joined(read, at, ' ', plain);
      if (spaced) joints.push(spaced);
    }
  }
  return joints;
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
 * Whether the joint of two texts may be `TELLING`: never wrong in saying no, and without making it. Where a text goes on in
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

/** Kinds that are told by themselves, however they are parted. */
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

/** The finds of each leaf with those that cross its joints. What is found whole on one side does not go on on the other. */
export function withJoints(
  spans: readonly (readonly Span[])[],
  joints: readonly Joint[],
  found: readonly (readonly Span[])[],
): readonly (readonly Span[])[] {
  const more = new Map<number, Span[]>();
  for (const [index, joint] of joints.entries()) {
    for (const span of found[index] ?? []) {
      if (!KINDS.has(span.category)) continue;
      const halves = halvesOf(joint, span);
      if (halves.length < 2 || halves.some((half) => isKnown(spans[half.leaf] ?? [], half))) continue;
      for (const { leaf, ...half } of halves) more.set(leaf, [...(more.get(leaf) ?? []), half]);
    }
  }
  return more.size === 0 ? spans : spans.map((own, leaf) => withHalves(own, more.get(leaf)));
}

/** Of two names for the same stretch, that of the whole counts. */
function withHalves(own: readonly Span[], halves: readonly Span[] | undefined): readonly Span[] {
  return halves ? united(halves, own) : own;
}
