import { digitsEnd, isDigit, isLetter } from './characters.ts';

/** With fewer digits, a phone number looks like any other number. */
export const MIN_DIGITS = 7;
/** Fifteen (ITU-T E.164) and the two of the prefix `00`. */
const MAX_DIGITS = 17;
/**
 * Country and area code may be in brackets. A longer row, `(1)(1)(1)`, is not a number, and would be tried from each
 * on.
 */
const MAX_BRACKETS = 2;

/** The groups of digits from one place on, as far as they could belong to one phone number. */
export interface Groups {
  readonly digits: string;
  /** For each group: how long it is, the index after it, how many digits there are up to there. */
  readonly lengths: readonly number[];
  readonly ends: readonly number[];
  readonly counts: readonly number[];
  /** Separators between groups. */
  readonly separators: readonly string[];
  /** Whether the row of groups ends here, and not only the number of digits a phone number can have. */
  readonly complete: boolean;
}

/** What people put between the groups of a phone number. */
const SEPARATORS = new Set([
  ' ',
  '-',
  '.',
  '/',
  '(',
  ')',
  ' (',
  ') ',
  ')-',
  ')/',
  ').',
  '-(',
  '/(',
  ' - ',
  ' / ',
  '/ ',
  ' /',
  ')(',
  ') (',
  ') - ',
]);

/** The groups from `at`; undefined when there are too few digits. Reads a bounded number of groups. */
export function readGroups(text: string, at: number): Groups | undefined {
  let end = digitsEnd(text, at);
  if (end - at > MAX_DIGITS || (end - at < MIN_DIGITS && separatorEnd(text, end) < 0)) return undefined;
  let digits = text.slice(at, end);
  const lengths = [digits.length];
  const ends = [end];
  const counts = [digits.length];
  const separators: string[] = [];
  let brackets = text.charCodeAt(at - 1) === 40 ? 1 : 0;
  let next = separatorEnd(text, end);
  while (next >= 0) {
    const nextEnd = digitsEnd(text, next);
    if (digits.length + nextEnd - next > MAX_DIGITS) break;
    const separator = text.slice(end, next);
    if (separator.endsWith('(') && ++brackets > MAX_BRACKETS) break;
    separators.push(separator);
    digits += text.slice(next, nextEnd);
    lengths.push(nextEnd - next);
    ends.push(nextEnd);
    counts.push(digits.length);
    end = nextEnd;
    next = separatorEnd(text, end);
  }
  return digits.length < MIN_DIGITS ? undefined : { digits, lengths, ends, counts, separators, complete: next < 0 };
}

/** Where the next group starts when a separator follows, or -1. */
function separatorEnd(text: string, at: number): number {
  for (let length = 1; length <= 4; length += 1) {
    const code = text.charCodeAt(at + length);
    if (isDigit(code)) return SEPARATORS.has(text.slice(at, at + length)) ? at + length : -1;
    if (isLetter(code) || Number.isNaN(code)) return -1;
  }
  return -1;
}
