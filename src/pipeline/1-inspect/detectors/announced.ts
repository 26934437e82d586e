import { isLetter } from './characters.ts';
import { isUnusual } from './login-value.ts';
import {
  announcementIn,
  type Announcement,
  hasRole,
  isPolish,
  type Link,
  linkAt,
  saysChanged,
} from './announcing-words.ts';

/** A word of running text that another one announces. */
export interface Word {
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

/** What announces a value, and how it is linked to it. */
export interface Announcing extends Announcement {
  readonly link: Exclude<Link, 'to'>;
}

/** No login or password is longer. */
const LONGEST = 40;
/** So much of one is read at once. */
const READ = 4096;
const BLANK = 1;
const SIGN = 2;
/** What ends a word to either side, by its code. */
const BREAKS = new Uint8Array(0x2100);
for (const sign of ' \t\r\n') BREAKS[sign.charCodeAt(0)] = BLANK;
for (const sign of '"\'`“”„«»‹›()[]{}<>,;|=\\/:') BREAKS[sign.charCodeAt(0)] = SIGN;

/** Where the word around `at` begins; negative where it is too long. */
function startOf(text: string, at: number): number {
  const most = Math.max(0, at - LONGEST);
  let start = at;
  while (start > most && !BREAKS[text.charCodeAt(start - 1)]) start -= 1;
  return at - start < LONGEST ? start : -1;
}

/** Where it ends, or where enough of it is read. */
function wordEnd(text: string, at: number): number {
  const most = Math.min(text.length, at + READ);
  let end = at;
  while (end < most && !BREAKS[text.charCodeAt(end)]) end += 1;
  return end;
}

const OPENING = '"\'`“„«‹*';
const GUILLEMET = 171;

/** Where the text before a value ends, without the blanks and an opening quote between; -1 where there is no blank. */
function beforeValue(text: string, start: number): number {
  let end = start;
  if (text.charCodeAt(end - 1) === 32 && text.charCodeAt(end - 2) === GUILLEMET) end -= 1;
  for (let quotes = 0; quotes < 2 && end > 0 && OPENING.includes(text[end - 1] as string); quotes += 1) end -= 1;
  const first = end;
  while (first - end < 3 && BREAKS[text.charCodeAt(end - 1)] === BLANK) end -= 1;
  return end === first ? -1 : end;
}

const CLOSING = '"”“»\'';

/** Where a quoted phrase begins of which the word from `start` to `end` is the last; else where the word does. */
function phraseStart(text: string, start: number, end: number): number {
  if (text.charCodeAt(start - 1) !== 32 || end >= text.length || !CLOSING.includes(text[end] as string)) return start;
  const most = Math.max(0, start - LONGEST);
  let first = start - 1;
  while (first > most && BREAKS[text.charCodeAt(first - 1)] !== SIGN && text.charCodeAt(first - 1) !== 10) first -= 1;
  return OPENING.includes(text[first - 1] ?? ' ') && text.charCodeAt(first) !== 32 ? first : start;
}

const COLON = 58;
const LONGEST_LINK = 20;

/** How what stands before `end` links a value to the words before it. */
function linkBefore(text: string, end: number): Link | undefined {
  if (text.charCodeAt(end - 1) === COLON) return 'sign';
  // `is still`, `ist jetzt der`: what may stand between a link and the value.
  let last = end;
  for (let words = 0; words < 3; words += 1) {
    const start = wordStart(text, last);
    if (start === last) return undefined;
    const link = isContracted(text, start, last) ? 'be' : linkAt(text, start, last);
    if (link !== undefined) return words === 0 || link === 'be' ? link : undefined;
    if (text.charCodeAt(start - 1) !== 32 || !hasRole('between', text, start, last)) return undefined;
    last = start - 1;
  }
  return undefined;
}

/** Where the word of letters that ends before `end` begins; `end` where no letter stands before it. */
function wordStart(text: string, end: number): number {
  let start = end;
  while (end - start < LONGEST_LINK && isWordLetter(text.charCodeAt(start - 1))) start -= 1;
  return start;
}

function isWordLetter(code: number): boolean {
  return isLetter(code) || (code > 191 && code < 0x250);
}

/** Whether it is the `s` of "it's" and "that's". */
function isContracted(text: string, start: number, end: number): boolean {
  if (end - start !== 1 || text.charCodeAt(start) !== 115) return false;
  const sign = text.charCodeAt(start - 1);
  return (sign === 39 || sign === 0x2019) && text.charCodeAt(start - 2) === 116;
}

/** How far before a value the word may stand that announces it. */
const REACH = 72;

/**
 * The word around the trigger at `at` with what announces it, or where it ends. Cheap where there is nothing, as few words
 * have a link before them. `mayBe` is asked about the word before its sentence is read.
 */
export function announcedAt(
  text: string,
  at: number,
  mayBe: (value: string, link: Link) => boolean,
): (Word & { readonly by: Announcing }) | number {
  const past = wordEnd(text, at);
  const start = phraseStart(text, startOf(text, at), past);
  if (start < 1 || past - start > LONGEST) return past;
  const before = beforeValue(text, start);
  if (before < 1) return past;
  const link = linkBefore(text, before);
  if (link === undefined) return past;
  let end = past;
  while (end > start && '.:?…'.includes(text[end - 1] as string)) end -= 1;
  const value = text.slice(start, end);
  if (!mayBe(value, link)) return past;
  const said = text.slice(Math.max(0, before - REACH), before).toLowerCase();
  const by = announcementIn(said);
  const meant = by && meaningOf(link, said, text.slice(end, end + AFTER).toLowerCase());
  return meant ? { start, end, value, by: { ...by, link: meant } } : past;
}

/** How far behind a value it may be said what was done: `auf Winter#44 zurückgesetzt`. */
const AFTER = 24;

/** What a link means in a sentence; undefined where it links nothing. */
function meaningOf(link: Link, said: string, after: string): Exclude<Link, 'to'> | undefined {
  if (link !== 'change' && link !== 'to') return link;
  if (saysChanged(said) || saysChanged(after)) return 'change';
  return link === 'to' && isPolish(said) ? 'be' : undefined;
}

const PLAIN = /["'`“„«‹*(]{0,2}([a-z]{4,20}|[a-z]{1,16}\.[a-z]{1,20})(?=["'`”“»›*)]{0,2}[.,;:!?]{0,2}(?:\s|$))/y;
/** Shorter words, such as "user", are too frequent to be read on after. */
const SHORT = 4;
/** Blanks and signs before a word, in a sentence. */
const GAP = /[?,]?[ \t]{1,2}(?:[–—-] )?/y;

/**
 * The word of small letters, or two with a full stop between, that the one around `at` announces and that `mayBe`: the next
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
  let isOwn: boolean | undefined = end - start > SHORT ? true : undefined;
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
    // `it's`, `l'intranet`.
    if (sign === 39 || sign === 0x2019) {
      last += 1;
      isLinked = text.charCodeAt(last - 2) === 116 && text.startsWith('s ', last);
      while (isWordLetter(text.charCodeAt(last))) last += 1;
    } else isLinked = isClose(linkAt(text, from, last)) || (isLinked && hasRole('between', text, from, last));
    if (text.charCodeAt(last) === COLON) {
      isLinked = true;
      last += 1;
    }
    if (!isLinked && !(isOwn ??= isOwned(text, start))) return undefined;
  }
  return undefined;
}

/** Whether what follows the word from `start` to `end`, or stands before it, is worth reading on. */
function isPromising(text: string, start: number, end: number): boolean {
  const next = text.charCodeAt(end);
  if (next !== 32 && next !== 63) return false;
  const first = end + 1;
  let last = first;
  while (last - first < LONGEST_LINK && isWordLetter(text.charCodeAt(last))) last += 1;
  // Two words with a full stop between, a quote, or a word that links or may be one itself.
  if (next === 32 && (last === first || (text.charCodeAt(last) === 46 && isWordLetter(text.charCodeAt(last + 1)))))
    return true;
  if (next === 32 && (isUnusual(text, first) || linkAt(text, first, last) !== undefined)) return true;
  return end - start > SHORT || isOwned(text, start);
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
