import { digitsEnd, endsToken, isAlphanumeric, isDigit, isInUuid, startsToken } from './characters.ts';
import { passesLuhn } from './check-digits.ts';
import type { Detector } from './detector.ts';
import { mayStartToken } from './digit-context.ts';

const MIN_DIGITS = 12;
const MAX_DIGITS = 19;
/** Words around a card number, for numbers that alone are not telling enough (short, or oddly grouped). */
const CARD_WORDS =
  /card|carte|kart|kort|tarjeta|carta|cart[aã]o|kaart|visa|amex|master|maestro|kredit|credit|cvv|cvc|\bcc\b/i;

/**
 * Payment card numbers: 12 to 19 digits in the ranges of the known issuers with a Luhn check digit, in one run or in
 * groups parted by a space, hyphen or dot. Never a part of a longer run of digits, of a decimal or of a UUID.
 */
export const card: Detector = {
  category: 'CREDIT_CARD',
  evidence: 'checked',
  meaning: 'Payment card numbers: issuer range, length and check digit.',
  examples: ['‹4111 1111 1111 1111›, expires 12/27'],
  ignores: ['order 4111 1111 1111 1112', 'EAN 4006381333931'],
  triggers: '1234569',
  prefilter(context): boolean {
    const { earlier, before, length, next, later } = context;
    if (!mayStartToken(context) || ((before === 'dot' || before === 'comma') && earlier === 'digit')) return false;
    return length > 6 || (later === 'digit' && (next === 'space' || next === 'hyphen' || next === 'dot'));
  },
  detect(text, at, floor, found): number {
    if (!isFreeBefore(text, at)) return floor;
    const groups = readGroups(text, at);
    if (groups === undefined) return floor;
    for (let last = groups.ends.length - 1; last >= 0 && (groups.counts[last] as number) >= MIN_DIGITS; last -= 1) {
      const end = groups.ends[last] as number;
      const digits = groups.digits.slice(0, groups.counts[last]);
      if (!mayBeTelling(groups, last) || !isCardNumber(digits) || !isFreeAfter(text, end, last + 1)) continue;
      if (!(isIssued(digits) ? isTelling(text, at, groups, last) : isTold(text, at))) continue;
      if (isInUuid(text, at, end) || isInLonger(text, at)) continue;
      found.push({ start: at, end, category: 'CREDIT_CARD' });
      return end;
    }
    return floor;
  },
};

interface Groups {
  readonly digits: string;
  /** For each group: the index after it, and how many digits there are up to there. */
  readonly ends: readonly number[];
  readonly counts: readonly number[];
  /** Whether no further group of digits follows. */
  readonly complete: boolean;
}

/** The groups from `at` while they fit a card number; undefined when there are too few digits. */
function readGroups(text: string, at: number): Groups | undefined {
  const first = digitsEnd(text, at);
  const size = first - at;
  if (size > MAX_DIGITS || (size < MIN_DIGITS && !continues(text, first))) return undefined;
  // Odd groups count only as a whole row.
  if (size < MIN_DIGITS && size !== 4 && isSeparator(text.charCodeAt(at - 1)) && isDigit(text.charCodeAt(at - 2))) {
    return undefined;
  }
  let digits = text.slice(at, first);
  const ends = [first];
  const counts = [digits.length];
  let end = first;
  let complete = true;
  while (continues(text, end)) {
    const next = digitsEnd(text, end + 1);
    if (digits.length + next - end - 1 > MAX_DIGITS) {
      complete = false;
      break;
    }
    digits += text.slice(end + 1, next);
    end = next;
    ends.push(end);
    counts.push(digits.length);
  }
  return digits.length < MIN_DIGITS ? undefined : { digits, ends, counts, complete };
}

function continues(text: string, end: number): boolean {
  return isSeparator(text.charCodeAt(end)) && isDigit(text.charCodeAt(end + 1));
}

function isSeparator(code: number): boolean {
  return code === 32 || code === 45 || code === 46;
}

/** Not inside a word and not the fraction of a decimal. */
function isFreeBefore(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return startsToken(text, at) && !((before === 46 || before === 44) && isDigit(text.charCodeAt(at - 2)));
}

/** Not inside a word and not the whole part of a decimal; a dot may go on after groups. */
function isFreeAfter(text: string, end: number, groupCount: number): boolean {
  const after = text.charCodeAt(end);
  const isDecimal = (after === 44 || (after === 46 && groupCount === 1)) && isDigit(text.charCodeAt(end + 1));
  return endsToken(text, end) && !isDecimal;
}

function isCardNumber(digits: string): boolean {
  return (isIssued(digits) || wasIssued(digits)) && !isOneDigit(digits) && passesLuhn(digits);
}

function isOneDigit(digits: string): boolean {
  return digits === (digits[0] as string).repeat(digits.length);
}

/** Whether an issuer gives out numbers that start and measure like this (ISO/IEC 7812). */
function isIssued(digits: string): boolean {
  const length = digits.length;
  const two = Number(digits.slice(0, 2));
  const four = Number(digits.slice(0, 4));
  const isLong = length >= 16;
  if (two >= 40 && two <= 49) return length === 13 || length === 16 || length === 19;
  if (two >= 51 && two <= 55) return length === 16;
  if (four >= 2221 && four <= 2720) return length === 16;
  if (two === 34 || two === 37) return length === 15;
  if (two === 36 || two === 38 || two === 39 || (four >= 3000 && four <= 3059)) return length === 14 || length === 16;
  if (two === 35) return isLong && four >= 3528 && four <= 3589;
  if (four >= 2200 && four <= 2204) return isLong;
  if (four === 9792) return length === 16;
  if (two === 60 || two === 62 || two === 64 || two === 65) return isLong;
  return two === 50 || (two >= 56 && two <= 58) || two === 63 || two === 66 || two === 67 || two === 68;
}

/** Whether it is of a range that JCB once had or keeps free: those need a word about cards. */
function wasIssued(digits: string): boolean {
  return digits.length === 15 ? digits.startsWith('1800') || digits.startsWith('2131') : /^35\d{14}$/.test(digits);
}

/**
 * A number that is long enough and grouped as cards are speaks for itself. Any other must be the whole row of digits,
 * with a word about cards before it.
 */
function isTelling(text: string, at: number, groups: Groups, last: number): boolean {
  return isSelfEvident(groups, last) || isTold(text, at);
}

function isTold(text: string, at: number): boolean {
  return CARD_WORDS.test(text.slice(Math.max(0, at - 40), at));
}

function mayBeTelling(groups: Groups, last: number): boolean {
  return isSelfEvident(groups, last) || (groups.complete && last === groups.ends.length - 1);
}

function isSelfEvident({ counts }: Groups, last: number): boolean {
  return (counts[last] as number) >= 14 && isRegular(counts, last);
}

/** The head of an IBAN. */
const HEAD = /(?<![A-Za-z0-9])[A-Z]{2}\d\d(?:[ -]?[A-Z0-9]{4}){0,6}[ -]$/;
const FOUR = /(?<![A-Za-z0-9])\d{4}[ -]$/;

/**
 * Whether the row is something longer: behind the head of an IBAN whose check digits are wrong, groups behind one more of
 * four, or one run that a hyphen joins to digits.
 */
function isInLonger(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const isRun = isDigit(text.charCodeAt(at + 4));
  if (before === 45 && isDigit(text.charCodeAt(at - 2)) && isRun) return true;
  if ((before !== 32 && before !== 45) || !isAlphanumeric(text.charCodeAt(at - 2))) return false;
  const row = text.slice(Math.max(0, at - 36), at);
  return HEAD.test(row) || (!isRun && FOUR.test(row));
}

/** One run, fours with a shorter rest, or 4-6-5 and 4-6-4. */
function isRegular(counts: readonly number[], last: number): boolean {
  if (last === 0) return true;
  if (last === 2 && counts[0] === 4 && counts[1] === 10 && (counts[2] === 14 || counts[2] === 15)) return true;
  for (let index = 0; index < last; index += 1) if (counts[index] !== 4 * (index + 1)) return false;
  return (counts[last] as number) <= 4 * (last + 1);
}
