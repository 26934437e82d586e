import {
  AFTER,
  COLON,
  COMMA,
  isContracted,
  isWordLetter,
  LONGEST_LINK,
  REACH,
  type Word,
  wordStart,
} from './announced.ts';
import { hasRole, isFrom, isPolish, type Link, linkAt, saysChanged } from './announcing-words.ts';
import { isUnusual } from './login-value.ts';

const PLAIN =
  /["'`“„«‹*(]{0,2}([a-z]{4,20}|[a-z]{1,16}\.[a-z]{1,20}|(?:[A-Z][a-z]{2,12}){2,4})(?=["'`”“»›*)]{0,2}[.,;:!?]{0,2}(?:\s|$))/y;
/** Shorter words, such as "user", are too frequent to be read on after. */
const SHORT = 4;
const LONG = 9;
/** Blanks and signs before a word, in a sentence. */
const GAP = /(?: ?[?,:])?[ \t]{1,2}(?:[–—-] )?/y;

/**
 * The word of small letters, or two with a full stop between, or words in one as in `SunnyGarden`, that the one around `at` announces and that `mayBe`: the next
 * one, one behind "is", or one farther on where it is said whose it is. `opens` says whether the word around `at`, in lower
 * case, announces any.
 */
export function announcedAfter(
  text: string,
  at: number,
  opens: (word: string) => boolean,
  mayBe: (value: string) => boolean,
): Word | undefined {
  const start = wordStart(text, at);
  let end = at + 1;
  while (end - at < LONGEST_LINK && isWordLetter(text.charCodeAt(end))) end += 1;
  if (!isPromising(text, start, end) || !opens(text.slice(start, end).toLowerCase())) return undefined;
  const isClose = (link: Link | undefined): boolean =>
    link === 'to'
      ? isPolish(text.slice(Math.max(0, start - AFTER), end + REACH).toLowerCase())
      : link !== undefined && link !== 'change';
  let isLinked = true;
  let isOwn: boolean | undefined = end - start > SHORT && !mayBeAny(text, start) ? true : undefined;
  for (let last = end; last < end + REACH;) {
    GAP.lastIndex = last;
    if (!GAP.test(text)) return undefined;
    const from = GAP.lastIndex;
    PLAIN.lastIndex = from;
    const [all = '', value = ''] = (isLinked ? PLAIN.exec(text) : undefined) ?? [];
    if (value !== '' && mayBe(value)) {
      const first = from + all.length - value.length;
      return { start: first, end: first + value.length, value };
    }
    last = from;
    while (isWordLetter(text.charCodeAt(last))) last += 1;
    const isShort = last - from < LONGEST_LINK;
    if (last === from || !isShort) return undefined;
    const sign = text.charCodeAt(last);
    // `it's`, `c'est`, `l'intranet`.
    if (sign === 39 || sign === 0x2019) {
      const second = (last += 1);
      while (isWordLetter(text.charCodeAt(last))) last += 1;
      isLinked = isContracted(text, second, last) || isClose(linkAt(text, second, last));
    } else
      isLinked =
        isClose(linkAt(text, from, last)) ||
        (isLinked && hasRole('between', text, from, last)) ||
        (last - from < 5 && isFrom(text, from, last) && saysChanged(text.slice(start, last + REACH).toLowerCase()));
    if (text.charCodeAt(last) === 32 && text.charCodeAt(last + 1) === COLON) last += 1;
    if (text.charCodeAt(last) === COLON) {
      isLinked = true;
      last += 1;
    }
    if (!isLinked && !(isOwn ??= isOwned(text, start))) return undefined;
  }
  return undefined;
}

/** Whether it is an account, a Konto or a cuenta, which other things have, too. */
function mayBeAny(text: string, start: number): boolean {
  const first = text.charCodeAt(start) | 32;
  return first === 97 || first === 99 || (first === 107 && (text.charCodeAt(start + 1) | 32) === 111);
}

/** Whether what follows the word from `start` to `end`, or stands before it, is worth reading on. */
function isPromising(text: string, start: number, end: number): boolean {
  const next = text.charCodeAt(end);
  if (next !== 32 && next !== 63 && next !== COLON && (next !== COMMA || end - start < LONG)) return false;
  const first = end + (text.charCodeAt(end + 1) === 32 && next !== 32 ? 2 : 1);
  let last = first;
  while (last - first < LONGEST_LINK && isWordLetter(text.charCodeAt(last))) last += 1;
  // Two words with a full stop between, a quote, or a word that links or may be one itself.
  if (next === 32 && (last === first || (text.charCodeAt(last) === 46 && isWordLetter(text.charCodeAt(last + 1)))))
    return true;
  if (next === COLON && isUnusual(text, first)) return true;
  if (next === 32 && (isUnusual(text, first) || linkAt(text, first, last) !== undefined)) return true;
  return mayBeAny(text, start) ? false : end - start > SHORT || isOwned(text, start);
}

/** Whether one of the two words before `at` says whose it is: `my old login`. */
function isOwned(text: string, at: number): boolean {
  let end = at;
  for (let words = 0; words < 2 && text.charCodeAt(end - 1) === 32; words += 1) {
    const start = wordStart(text, end - 1);
    if (hasRole('whose', text, start, end - 1)) return true;
    end = start;
  }
  return false;
}
