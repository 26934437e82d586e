import { isAlphanumeric, isCapital, isDigit, isLetter, startsToken } from './characters.ts';
import { isLetterKind, type DigitContext } from './digit-context.ts';

/** The longest number of a person or firm, in letters and digits. */
const LONGEST = 16;
const MOST_GROUPS = 8;
const SHORTEST = 8;

/** Letters and digits from one place on, in groups, as far as they could be one number. */
export interface NumberGroups {
  readonly start: number;
  /** Letters and digits alone, in capitals. */
  readonly compact: string;
  /** For each group: the index after it, and how many letters and digits there are up to there. */
  readonly ends: readonly number[];
  readonly counts: readonly number[];
}

/**
 * The groups around the digits at `at`: with the letters in front of them, and without. Those that begin earlier come
 * first. Reads about 40 characters. Only for digits whose look `mayBeNumber`.
 */
export function numberGroups(text: string, at: number, floor: number): readonly NumberGroups[] {
  let start = at;
  while (at - start < 7 && isLetter(text.charCodeAt(start - 1))) start -= 1;
  if (start < at && startsToken(text, start))
    return start < floor ? NONE : readable(readGroups(text, start, goesOn(text, start) ? 1 : MOST_GROUPS));
  if (start < at && !startsToken(text, at)) return NONE;
  const before = text.charCodeAt(at - 1);
  const lettered = before === 32 || before === 45 ? lettersBefore(text, at - 1) : -1;
  const bare = isPart(text, at) ? undefined : readGroups(text, at);
  if (lettered < floor) return readable(bare);
  return [...readable(readGroups(text, lettered)), ...readable(bare)];
}

const NONE: readonly NumberGroups[] = Object.freeze([]);

function readable(groups: NumberGroups | undefined): readonly NumberGroups[] {
  return groups === undefined ? NONE : [groups];
}

/** Six digits in a row, letters in front that touch, or more behind: what most numbers in prose have none of. */
export function mayBeNumber({ earlier, before, length, next, later }: DigitContext): boolean {
  // Inside a word no number starts.
  if (isLetterKind(before)) return earlier !== 'digit';
  if (length > 5 || next === 'capital') return true;
  if (next === 'space') return later === 'digit';
  const isJoined = next === 'hyphen' || next === 'dot' || next === 'slash' || next === 'plus';
  return isJoined && (later === 'digit' || later === 'capital');
}

/** Whether a group with digits stands before: rows of groups are read from their first. */
function goesOn(text: string, start: number): boolean {
  return isSeparator(text.charCodeAt(start - 1)) && isDigit(text.charCodeAt(start - 2));
}

/** Where one to three capitals start that end before `end`; -1 without any. */
function lettersBefore(text: string, end: number): number {
  let start = end;
  while (end - start < 4 && isCapital(text.charCodeAt(start - 1))) start -= 1;
  return start < end && end - start < 4 && startsToken(text, start) ? start : -1;
}

/** Whether digits at `at` go on something: a group, a word, a path, a fraction. */
function isPart(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const earlier = text.charCodeAt(at - 2);
  switch (before) {
    case 32:
      return isDigit(earlier) && !isLong(text, at);
    case 45:
    case 46:
    case 47:
    case 44:
      return (
        isAlphanumeric(earlier) &&
        !(before !== 45 && before !== 47 && isLetter(earlier)) &&
        !(before === 44 && isLong(text, at))
      );
    case 43:
    case 36:
    case 64:
    case 92:
    case 95:
    case 163:
    case 8364:
      return true;
    default:
      return false;
  }
}

/** Seven digits on end: a value of its own where a comma parts values, and no fraction. */
function isLong(text: string, at: number): boolean {
  for (let index = at; index < at + 7; index += 1) if (!isDigit(text.charCodeAt(index))) return false;
  return true;
}

function readGroups(text: string, start: number, most = MOST_GROUPS): NumberGroups | undefined {
  let raw = '';
  const ends: number[] = [];
  const counts: number[] = [];
  for (let from = start; ends.length < most;) {
    let end = from;
    while (end - from <= LONGEST && isAlphanumeric(text.charCodeAt(end))) end += 1;
    if (raw.length + end - from > LONGEST) break;
    raw += text.slice(from, end);
    ends.push(end);
    counts.push(raw.length);
    if (!isSeparator(text.charCodeAt(end)) || !continues(text, end)) break;
    from = end + 1;
  }
  return raw.length < SHORTEST ? undefined : { start, compact: raw.toUpperCase(), ends, counts };
}

/** Whether a group follows the separator at `end`: digits or capitals; a word in lower case is not a group. */
function continues(text: string, end: number): boolean {
  const next = text.charCodeAt(end + 1);
  return isDigit(next) || isCapital(next);
}

function isSeparator(code: number): boolean {
  return code === 32 || code === 45 || code === 46 || code === 47 || code === 43;
}

/** Whether a number may end before `end`: not in a word, a path, a decimal, a row joined by hyphens, or an address. */
export function endsNumber(text: string, end: number): boolean {
  const next = text.charCodeAt(end);
  if (isAlphanumeric(next) || next === 95 || next === 64 || next === 37) return false;
  const later = text.charCodeAt(end + 1);
  if (next === 45 || next === 47) return !isAlphanumeric(later);
  return !(next === 46 && isDigit(later));
}

/** Whether more digits follow a blank: without a word the row is something longer, such as a mistyped IBAN. */
export function isRowGoingOn(text: string, end: number): boolean {
  return text.charCodeAt(end) === 32 && isDigit(text.charCodeAt(end + 1));
}
