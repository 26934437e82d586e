import {
  endsAsStreet,
  ENGLISH_ADDRESS,
  FLAT,
  FRENCH_ADDRESS,
  FROM_CODE,
  FROM_NUMBER,
  NAME,
  NUMBER_ALONE,
  STREET,
  STREET_FIRST,
  SURE,
} from './address-shape.ts';
import { digitsEnd, isCapital, isDigit, isLetter, startsToken } from './characters.ts';
import { ANY_DIGIT, isLetterKind, type Neighbour, type DigitContext, mayStartToken } from './digit-context.ts';
import type { Detector } from './detector.ts';

/** How long the street before a number may be. */
const STREET_REACH = 64;

/**
 * Postal addresses: a street by its word, a number, a postal code and a town, in the orders of the languages of the
 * house. Without a code and town only streets that leave no doubt; without a word for a street only all the rest.
 */
export const address: Detector = {
  category: 'ADDRESS',
  evidence: 'shaped',
  meaning:
    'Postal addresses: a street by its word, a number, a postal code and a town, in the orders of European and American addresses.',
  examples: [
    'ship to ‹12 Main St, Springfield, IL 62704›',
    'Sie wohnt ‹Hans-Karl-Platz 1, 84263 Worbis›.',
    'demeurant ‹85, chemin Marchal, 01213 Lambert›.',
  ],
  ignores: ['See chapter 12, page 84.'],
  triggers: ANY_DIGIT,
  prefilter: mayBePart,
  detect(text, at, floor, found): number {
    const digits = digitsEnd(text, at);
    if (!startsToken(text, at) || isInList(text, at, digits)) return floor;
    const match = forwards(text, at, digits) ?? backwards(text, at, digits, floor);
    if (match === undefined || match.start < floor) return floor;
    found.push({ ...match, category: 'ADDRESS' });
    return match.end;
  },
};

interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Whether a letter stands close before or behind the number, with blanks, a comma or a full stop between. */
function mayBePart(context: DigitContext): boolean {
  const { earlier, before, length, next, later } = context;
  if (length > 6 || !mayStartToken(context)) return false;
  const isAhead = isLetterKind(next) ? later === 'space' || later === 'comma' : next === 'space' && isWord(later);
  if (before === 'space') return isBehindWord(earlier) || isAhead || next === 'comma' || isUnsure(context);
  const isWithin = before === 'dot' || before === 'comma' || before === 'hyphen' || before === 'slash';
  return length < 6 && !isWithin && (isAhead || (next === 'comma' && later === 'space'));
}

function isBehindWord(earlier: Neighbour): boolean {
  return isWord(earlier) || earlier === 'ordinal' || earlier === 'dot' || earlier === 'comma';
}

/** Behind a sign and a blank: with a word touching, or two blanks. */
function isUnsure({ next, later }: DigitContext): boolean {
  return isLetterKind(next) ? isWord(later) : next === 'space' && (later === 'space' || later === 'comma');
}

function isWord(kind: Neighbour): boolean {
  return isLetterKind(kind) || kind === 'wide';
}

/** Whether a sign stands before the number and a comma behind it, with no word behind that. */
function isInList(text: string, at: number, end: number): boolean {
  if (text.charCodeAt(end) !== 44) return false;
  const earlier = text.charCodeAt(at - 2);
  if (isWordPart(earlier) || earlier === 44 || earlier === 46 || earlier === 186) return false;
  const later = text.charCodeAt(end + 2);
  return !(isWordPart(later) || later === 32 || later === 44);
}

/** An address that starts with the number: French and English ones, a flat before it. */
function forwards(text: string, at: number, digits: number): Stretch | undefined {
  const before = text.charCodeAt(at - 1);
  if (before === 46 || before === 44 || before === 45 || before === 47 || before === 58 || digits - at > 5)
    return undefined;
  const word = wordAfter(text, digits);
  const initial = text.charCodeAt(word);
  if (FRENCH_INITIALS.includes(initial)) {
    const end = matchEnd(FRENCH_ADDRESS, text, at);
    if (end > 0) return { start: at, end: trimmed(text, end) };
  }
  if (!isCapital(initial)) return undefined;
  const english = matchEnd(ENGLISH_ADDRESS, text, at);
  if (english < 0) return undefined;
  const flat = before === 32 ? FLAT.exec(text.slice(Math.max(0, at - 12), at)) : null;
  return { start: flat === null ? at : at - flat[0].length, end: english };
}

const FRENCH_INITIALS = Array.from('rabcpiqsfvRABCPIQSFV', (letter) => letter.charCodeAt(0));

/** Where the word behind a number starts: past one letter of the number's own, a comma and a blank. */
function wordAfter(text: string, digits: number): number {
  let at = digits;
  if (isLetter(text.charCodeAt(at)) && !isLetter(text.charCodeAt(at + 1))) at += 1;
  if (text.charCodeAt(at) === 44) at += 1;
  if (text.charCodeAt(at) !== 32) return text.length;
  at += 1;
  return text.startsWith('bis ', at) || text.startsWith('ter ', at) ? at + 4 : at;
}

/** An address whose street stands before the number, or before a postal code without one. */
function backwards(text: string, at: number, digits: number, floor: number): Stretch | undefined {
  if (text.charCodeAt(at - 1) !== 32 || !mayFollowStreet(text, at - 1)) return undefined;
  const goesOn = mayGoOn(text.charCodeAt(digits));
  const number = goesOn && digits - at < 6 ? matchEnd(FROM_NUMBER, text, at) : -1;
  const code = goesOn && number < 0 && digits - at > 2 ? matchEnd(FROM_CODE, text, at) : -1;
  const alone = number < 0 && code < 0 && digits - at < 5 ? matchEnd(NUMBER_ALONE, text, at) : -1;
  if (number < 0 && code < 0 && alone < 0) return undefined;
  const from = Math.max(floor, at - STREET_REACH);
  const place = wordsStart(text, from, at);
  if (number < 0 && code < 0 && at - place < SHORTEST_STREET) return undefined;
  const words = text.slice(place, at);
  if (number > 0) {
    const street = STREET.exec(words) ?? (digits - at < 4 ? NAME.exec(words) : null);
    return street === null ? undefined : { start: place + street.index, end: number };
  }
  if (code > 0) {
    const street = STREET_FIRST.exec(words.replace(NO_NUMBER, ' '));
    return street === null ? undefined : { start: place + street.index, end: code };
  }
  const street = STREET.exec(words);
  const isSure = street !== null && SURE.test(lineBefore(text, from, at));
  return isSure ? { start: place + street.index, end: alone } : undefined;
}

/** A street of three letters, with a blank to either side: `C/ X 1`. */
const SHORTEST_STREET = 5;

/** Where the words start that end at `at`, not before `from`: nothing else stands in a street's name. */
function wordsStart(text: string, from: number, at: number): number {
  let start = at;
  while (start > from && isInName(text.charCodeAt(start - 1))) start -= 1;
  return start;
}

/** Letters, signs beyond ASCII, blanks and `'`, `,`, `-`, `.`, `/`. */
function isInName(code: number): boolean {
  return isLetter(code) || code > 127 || code === 32 || code === 39 || (code >= 44 && code <= 47);
}

function lineBefore(text: string, from: number, at: number): string {
  const line = text.slice(from, at);
  return line.slice(Math.max(line.lastIndexOf('\n'), line.lastIndexOf(':'), line.lastIndexOf(';')) + 1);
}

/** Whether a door, a town or the rest of a postal code may follow a number before this character. */
function mayGoOn(next: number): boolean {
  return next === 32 || next === 44 || next === 45 || next === 47 || isLetter(next);
}

/** Whether the word before a number is a name, ends as streets do, or is parted from it by a sign. */
function mayFollowStreet(text: string, end: number): boolean {
  let start = end;
  while (end - start < 24 && isWordPart(text.charCodeAt(start - 1))) start -= 1;
  const initial = text.charCodeAt(start);
  if (start === end || isCapital(initial) || initial > 127) return true;
  return endsAsStreet(text.slice(start, end));
}

function isWordPart(code: number): boolean {
  return isLetter(code) || code > 191;
}

/** Separators between a street and a postal code if the house has no number. */
const NO_NUMBER = /,? S\/N,? $| ?, $/;

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

function trimmed(text: string, end: number): number {
  let last = end;
  while (last > 0 && !isDigit(text.charCodeAt(last - 1)) && ' .,'.includes(text[last - 1] as string)) last -= 1;
  return last;
}
