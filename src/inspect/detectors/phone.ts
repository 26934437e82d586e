import { digitsEnd, endsToken, isAlphanumeric, isDigit, isLetter, startsToken } from './characters.ts';
import { ANY_DIGIT, type Neighbour, type DigitContext, mayStartToken } from './digit-context.ts';
import type { Detector } from './detector.ts';
import { followsNumberWord, isAnnounced, wordsBefore } from './phone-context.ts';
import { type Groups, MIN_DIGITS, readGroups } from './phone-groups.ts';
import { createPhonePlan, DEFAULT_PHONE_REGIONS, type PhonePlan } from './phone-plan.ts';
import { isPhoneShaped } from './phone-shape.ts';

/**
 * Phone numbers. International forms (`+…`, `00…`) count anywhere when a numbering plan of their calling code holds
 * them. National forms count when a plan of the given regions holds them and there is clear evidence: a word about
 * phones shortly before, or a grouping that only phone numbers have. Where no regions are named, a
 * number in groups right behind such a word may be of any country. Dates, amounts, versions, addresses of machines and
 * references do not match.
 */
export function createPhone(regions?: readonly string[]): Detector {
  const plan = createPhonePlan(regions ?? DEFAULT_PHONE_REGIONS);
  const isAbroad = regions === undefined;
  return {
    category: 'PHONE',
    evidence: 'weak',
    meaning:
      'Phone numbers: international forms anywhere; national forms of the configured regions with a word or a grouping that tells them.',
    examples: ['‹+49 30 901820›', 'Call me: ‹020 7946 0958›'],
    ignores: ['Bestellnummer 4711-0815 vom 01.02.2024'],
    triggers: ANY_DIGIT,
    prefilter: mayBePhone,
    detect(text, at, floor, found): number {
      const plus = plusBefore(text, at);
      const start = plus >= 0 ? plus : isBracketed(text, at) ? at - 1 : at;
      if (start < floor || (plus < 0 && !mayStart(text, start, at))) return floor;
      const groups = readGroups(text, at);
      if (groups === undefined) return floor;
      let end = plus >= 0 ? internationalEnd(text, groups, plan) : nationalEnd(text, start, at, groups, plan);
      if (end < 0 && plus < 0 && isAbroad) end = foreignEnd(text, start, groups);
      if (end < 0 || (plus >= 0 && isSum(text, at, end))) return floor;
      found.push({ start, end, category: 'PHONE' });
      return end;
    },
  };
}

/** Enough digits or another group behind them, and nothing before them that no phone number has. */
function mayBePhone(context: DigitContext): boolean {
  const { earlier, before, length, next, later } = context;
  if (length < 7 && !isSeparator(next, later)) return false;
  switch (before) {
    case 'hyphen':
    case 'slash':
    case 'backslash':
      return false;
    case 'dot':
      return earlier === 'lower' || earlier === 'capital';
    case 'comma':
      return earlier !== 'digit';
    default:
      return mayStartToken(context);
  }
}

/** Whether what follows may part two groups; a dot parts them alone, or behind a bracket. */
function isSeparator(next: Neighbour, later: Neighbour): boolean {
  if (next === 'dot') return later === 'digit';
  if (next !== 'space' && next !== 'hyphen' && next !== 'slash' && next !== 'bracket') return false;
  if (later === 'dot') return next === 'bracket';
  return later === 'digit' || later === 'space' || later === 'hyphen' || later === 'slash' || later === 'bracket';
}

/** Whether the group at `at` stands in brackets of its own, `(030)`, that open right before `start`. */
function isBracketed(text: string, at: number, start: number = at): boolean {
  if (text.charCodeAt(start - 1) !== 40) return false;
  let end = at;
  while (end < at + 7 && isDigit(text.charCodeAt(end))) end += 1;
  return text.charCodeAt(end) === 41;
}

/** Where an international prefix starts: `+49`, `+ 49`, `(+49)`, `+(49)`; -1 without one. */
function plusBefore(text: string, at: number): number {
  let start = at - 1;
  const before = text.charCodeAt(start);
  if ((before === 32 || before === 40) && text.charCodeAt(start - 1) === 43) start -= 1;
  if (text.charCodeAt(start) !== 43) return -1;
  if (isBracketed(text, at, start)) start -= 1;
  return startsToken(text, start) && text.charCodeAt(start - 1) !== 43 ? start : -1;
}

/** The end of the longest row of groups that a numbering plan holds, or -1. Written in groups, its length is enough. */
function internationalEnd(text: string, groups: Groups, plan: PhonePlan): number {
  for (let last = groups.ends.length - 1; last >= 0; last -= 1) {
    const end = groups.ends[last] as number;
    const digits = dialled(groups, last);
    if (digits.length < MIN_DIGITS) return -1;
    if (digits.length > 15 || !endsNumber(text, end)) continue;
    if (plan.isInternational(digits) || (last > 0 && plan.hasInternationalLength(digits))) return end;
  }
  return -1;
}

/** `total + 31536000000`: a plus sign with a blank before one run of digits adds, unless a word says otherwise. */
function isSum(text: string, at: number, end: number): boolean {
  return text.charCodeAt(at - 1) === 32 && digitsEnd(text, at) === end && wordsBefore(text, at) !== 'phone';
}

/** The digits to dial from abroad, up to a group: the trunk zero in `+49 (0) 30` is left out. */
function dialled({ digits, counts, lengths, separators }: Groups, last: number): string {
  const count = counts[last] as number;
  const trunkMarked = lengths[1] === 1 && separators[0]?.endsWith('(') && separators[1]?.startsWith(')');
  const at = counts[0] as number;
  return trunkMarked && digits[at] === '0' && last > 1
    ? digits.slice(0, at) + digits.slice(at + 1, count)
    : digits.slice(0, count);
}

function nationalEnd(text: string, start: number, at: number, groups: Groups, plan: PhonePlan): number {
  if (groups.digits.startsWith('00')) return doubleZeroEnd(text, start, groups, plan);
  const end = heldEnd(text, groups, plan);
  if (end < 0 || isOtherNumber(text, start, groups)) return -1;
  const words = wordsBefore(text, start);
  if (words === 'phone') return end;
  const isWhole = groups.complete && end === groups.ends.at(-1);
  const isEvident = isWhole && words === 'none' && mayStandAlone(text, start) && !followsNumberWord(text, start);
  return isEvident && isPhoneShaped(groups, start < at, plan) ? end : -1;
}

/** The end of a whole row of groups that no plan of the regions holds, but a word announces; or -1. */
function foreignEnd(text: string, start: number, groups: Groups): number {
  const { digits, ends, complete, separators } = groups;
  const end = ends.at(-1) as number;
  // One sign throughout, but for brackets: `10.30 - 11.45` is opening hours.
  const [first, second = first] = separators;
  const isEven = separators.every((sign, at) => sign === second || (at === 0 && sign.includes(')')));
  const isRow = complete && separators.length > 0 && digits.length <= 13 && endsNumber(text, end);
  return isRow && isEven && !isOtherNumber(text, start, groups) && isAnnounced(text, start) ? end : -1;
}

/** The end of the longest row of groups that a national plan holds, or -1. */
function heldEnd(text: string, groups: Groups, plan: PhonePlan): number {
  for (let last = groups.ends.length - 1; last >= 0; last -= 1) {
    const count = groups.counts[last] as number;
    if (count < MIN_DIGITS) return -1;
    const end = groups.ends[last] as number;
    if (endsNumber(text, end) && plan.isNational(groups.digits.slice(0, count))) return end;
  }
  return -1;
}

/**
 * `0049 …`. In one run it is more often a padded reference, so the calling code 1, which takes any ten digits, then
 * needs a word about phones, and a word about references rules it out.
 */
function doubleZeroEnd(text: string, start: number, groups: Groups, plan: PhonePlan): number {
  if (groups.digits[2] === '0') return -1;
  for (let last = groups.ends.length - 1; last >= 0; last -= 1) {
    const end = groups.ends[last] as number;
    const digits = dialled(groups, last).slice(2);
    if (digits.length < MIN_DIGITS + 1) return -1;
    if (digits.length > 15 || !endsNumber(text, end) || !plan.isInternational(digits)) continue;
    const words = wordsBefore(text, start);
    if (words === 'phone') return end;
    const isEvident = last > 0 ? mayStandAlone(text, start) : words === 'none' && !digits.startsWith('1');
    return isEvident ? end : -1;
  }
  return -1;
}

/**
 * Not in a word, a path, a decimal, a time or a reference with hyphens, and not within a row of numbers but for one
 * with a trunk zero. A full stop may stand between: `Tel.030 …`.
 */
function mayStart(text: string, start: number, at: number): boolean {
  if (!startsToken(text, start)) return false;
  const before = text.charCodeAt(start - 1);
  const earlier = text.charCodeAt(start - 2);
  switch (before) {
    case 35:
    case 36:
    case 37:
    case 38:
    case 43:
    case 45:
    case 47:
    case 64:
    case 92:
    case 95:
    case 163:
    case 8364:
      return false;
    case 32:
      return !isDigit(earlier) || start < at || isTrunk(text, at);
    case 46:
      return isLetter(earlier);
    case 44:
    case 58:
      return !isDigit(earlier);
    default:
      return true;
  }
}

function isTrunk(text: string, at: number): boolean {
  const second = text.charCodeAt(at + 1);
  return text.charCodeAt(at) === 48 && second !== 48 && isDigit(second);
}

/** Without a word about phones, other digits right before make it part of something longer. */
function mayStandAlone(text: string, start: number): boolean {
  const before = text.charCodeAt(start - 1);
  if (before === 46) return false;
  return !(before === 32 && isDigit(text.charCodeAt(start - 2)));
}

const UNIT = /^ ?(?:[€$£%°]|(?:EUR|USD|GBP|CHF|PLN|z[lł]|kr|kg|km|ms|px|MB|GB|kB|bytes?|Stück)(?![\p{L}]))/u;

/** Whether the number may end here: not in a word, a decimal or a longer reference, and not an amount. */
function endsNumber(text: string, end: number): boolean {
  const next = text.charCodeAt(end);
  if (!endsToken(text, end)) return (next | 32) === 120 && isDigit(text.charCodeAt(end + 1));
  if (next === 45 || next === 95 || next === 47)
    return !isAlphanumeric(text.charCodeAt(end + 1)) || isDigit(text.charCodeAt(end + 1));
  return !UNIT.test(text.slice(end, end + 8));
}

/** Dates, addresses of machines, amounts with a comma. */
function isOtherNumber(text: string, start: number, groups: Groups): boolean {
  const end = groups.ends.at(-1) as number;
  if (groups.digits[0] !== '0' && text.charCodeAt(end) === 44 && isDigit(text.charCodeAt(end + 1))) return true;
  if (DATE.test(text.slice(start, start + 11)) || OCTETS.test(text.slice(start, end))) return true;
  return groups.ends.some(
    (groupEnd, index) =>
      groups.separators[index] !== undefined && isDateAfter(text, groupEnd, groups.separators[index]),
  );
}

/** Whether a date follows the separator after a group: `1.7.1 / 01.12.2018`. */
function isDateAfter(text: string, groupEnd: number, separator: string): boolean {
  return separator.length > 1 && DATE.test(text.slice(groupEnd + separator.length, groupEnd + separator.length + 11));
}

const DAY = '(?:0?[1-9]|[12]\\d|3[01])';
const MONTH = '(?:0?[1-9]|1[0-2])';
const YEAR = '(?:19|20)\\d\\d';
const DATE = new RegExp(
  `^(?:${YEAR}([-./ ])${MONTH}\\1${DAY}|(?:${DAY}([-./ ])${MONTH}|${MONTH}([-./ ])${DAY})(?:\\2|\\3)${YEAR})(?!\\d)`,
);
const OCTETS = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
