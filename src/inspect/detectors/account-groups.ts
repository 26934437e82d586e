import { ACCOUNT_NUMBERS } from './account-numbers.ts';
import { digitsEnd, isCapital, isDigit } from './characters.ts';
import { hasContextWord, contextWords } from './context-words.ts';
import { endsNumber, isRowGoingOn } from './number-groups.ts';
import type { ToldKind } from './number-kind.ts';

const LENGTHS = ACCOUNT_NUMBERS.flatMap(({ lengths }) => lengths);
const SHORTEST = Math.min(...LENGTHS);
const LONGEST = Math.max(...LENGTHS);
/** Bank and branch of a French account, which letters may follow. */
const LEADING_DIGITS = 10;

/** How long the second group is behind a first of so many digits. */
const SECOND: Readonly<Record<number, number>> = { 2: 4, 3: 7, 4: 4, 5: 5, 8: 8 };

const KINDS: readonly ToldKind[] = ACCOUNT_NUMBERS.map((kind) => ({ ...kind, teller: contextWords(kind.words) }));

/**
 * The end of the account of `account-numbers.ts` whose first digits are those from `at` to `digits`; -1 without one.
 * Reads about sixty characters.
 */
export function accountEnd(text: string, at: number, digits: number): number {
  if (!mayBeAccount(text, at, digits)) return -1;
  const { compact, ends, counts } = readGroups(text, at);
  for (let last = ends.length - 1; last >= 0 && (counts[last] as number) >= SHORTEST; last -= 1) {
    const end = ends[last] as number;
    const known = compact.slice(0, counts[last]);
    if (endsNumber(text, end) && KINDS.some((kind) => isAccount(text, at, end, known, kind))) return end;
  }
  return -1;
}

/** Groups as accounts have them, or digits enough on end; and no row that has begun before. */
function mayBeAccount(text: string, at: number, digits: number): boolean {
  const length = digits - at;
  if (length >= LEADING_DIGITS) return length <= LONGEST;
  const second = SECOND[length];
  if (second === undefined || (text.charCodeAt(at - 1) === 32 && isDigit(text.charCodeAt(at - 2)))) return false;
  return isSeparator(text.charCodeAt(digits)) && digitsEnd(text.slice(digits + 1, digits + 9), 0) === second;
}

interface Groups {
  /** Letters and digits alone. */
  readonly compact: string;
  /** For each group: the index after it, and how many letters and digits there are up to there. */
  readonly ends: readonly number[];
  readonly counts: readonly number[];
}

function readGroups(text: string, at: number): Groups {
  let compact = '';
  const ends: number[] = [];
  const counts: number[] = [];
  for (let from = at; ;) {
    let end = from;
    while (end - from <= LONGEST && isPart(text.charCodeAt(end))) end += 1;
    if (end === from || compact.length + end - from > LONGEST) break;
    compact += text.slice(from, end);
    ends.push(end);
    counts.push(compact.length);
    if (!isSeparator(text.charCodeAt(end))) break;
    from = end + 1;
  }
  return { compact, ends, counts };
}

function isAccount(text: string, at: number, end: number, compact: string, kind: ToldKind): boolean {
  if (!kind.lengths.includes(compact.length) || !kind.shape.test(compact) || !kind.isValid(compact)) return false;
  if (kind.alone === 'grouped' && !isRowGoingOn(text, end) && kind.groups?.test(text.slice(at, end))) return true;
  return hasContextWord(kind.teller, text, at, end);
}

function isPart(code: number): boolean {
  return isDigit(code) || isCapital(code);
}

function isSeparator(code: number): boolean {
  return code === 32 || code === 45;
}
