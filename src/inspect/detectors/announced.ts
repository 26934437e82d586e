import { isLetter } from './characters.ts';
import {
  announcedBy,
  announcementIn,
  type Announcement,
  hasRole,
  isPolish,
  type Link,
  linkAt,
  saysChanged,
  type Sought,
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

const OPENING = '"\'`“„«‹*(';
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
  if (text.charCodeAt(start - 1) !== 32 || end >= text.length) return start;
  const isFrench = text.charCodeAt(end) === 32 && text.charCodeAt(end + 1) === GUILLEMET + 16;
  if (!isFrench && !CLOSING.includes(text[end] as string)) return start;
  const most = Math.max(0, start - LONGEST);
  let first = start - 1;
  while (first > most && BREAKS[text.charCodeAt(first - 1)] !== SIGN && text.charCodeAt(first - 1) !== 10) first -= 1;
  if (isFrench && text.charCodeAt(first - 1) === GUILLEMET) return text.charCodeAt(first) === 32 ? first + 1 : first;
  return OPENING.includes(text[first - 1] ?? ' ') && text.charCodeAt(first) !== 32 ? first : start;
}

export const COLON = 58;
export const COMMA = 44;
export const LONGEST_LINK = 20;

/** How what stands before `end` links a value to the words before it. */
function linkBefore(text: string, end: number): Link | undefined {
  const sign = text.charCodeAt(end - 1);
  if (sign === COLON) return 'sign';
  if (sign === COMMA) return 'comma';
  // `is still`, `ist jetzt der`: what may stand between a link and the value.
  let last = end;
  for (let words = 0; words < 3; words += 1) {
    const start = wordStart(text, last);
    if (start === last) return undefined;
    const link = isContracted(text, start, last) ? 'be' : linkAt(text, start, last);
    if (link !== undefined) return words === 0 || link === 'be' || link === 'to' ? link : undefined;
    if (text.charCodeAt(start - 1) !== 32 || !hasRole('between', text, start, last)) return undefined;
    last = start - 1;
  }
  return undefined;
}

/** Where the word of letters that ends before `end` begins; `end` where no letter stands before it. */
export function wordStart(text: string, end: number): number {
  let start = end;
  while (end - start < LONGEST_LINK && isWordLetter(text.charCodeAt(start - 1))) start -= 1;
  return start;
}

export function isWordLetter(code: number): boolean {
  return isLetter(code) || (code > 191 && code < 0x250);
}

/** Whether it is the `s` of "it's" and "that's". */
export function isContracted(text: string, start: number, end: number): boolean {
  if (end - start !== 1 || text.charCodeAt(start) !== 115) return false;
  const sign = text.charCodeAt(start - 1);
  return (sign === 39 || sign === 0x2019) && text.charCodeAt(start - 2) === 116;
}

/** How far before a value the word may stand that announces it. */
export const REACH = 72;
/** The same for one that no link stands before. */
const NEARBY = 32;
const SHORTEST_LOOSE = 8;

/**
 * The word around the trigger at `at` with what announces it, or where it ends. Cheap where there is nothing, as few words
 * have a link before them. `mayBe` is asked about the word before its sentence is read.
 */
export function announcedAt(
  text: string,
  at: number,
  seeks: Sought,
  mayBe: (value: string, link: Link) => boolean,
): (Word & { readonly by: Announcing }) | number {
  const past = wordEnd(text, at);
  const start = phraseStart(text, startOf(text, at), past);
  if (start < 1 || past - start > LONGEST) return past;
  const before = beforeValue(text, start);
  if (before < 1) return past;
  const link = linkBefore(text, before);
  if (link === undefined)
    return (
      wordBehind(text, start, past, mayBe) ??
      (seeks === 'secret' ? looseWord(text, start, past, before, mayBe) : undefined) ??
      past
    );
  if (link === 'comma' && (seeks === 'secret' ? text.charCodeAt(past) !== COMMA : !isAnswer(text, before))) return past;
  let end = past;
  while (end > start && '.:?…'.includes(text[end - 1] as string)) end -= 1;
  const value = text.slice(start, end);
  if (!mayBe(value, link)) return past;
  const said = text.slice(Math.max(0, before - REACH), before).toLowerCase();
  const by = announcementIn(said, seeks) ?? entryBehind(text, end, link);
  const meant = by && meaningOf(link, said, text.slice(end, end + AFTER).toLowerCase());
  return meant ? { start, end, value, by: { ...by, link: meant } } : past;
}

/** Where a verb behind the value says how one gets in: `als wartung_nord anmelden`. */
function entryBehind(text: string, end: number, link: Link): Announcement | undefined {
  if (link !== 'as' && link !== 'with') return undefined;
  return announcedBy(text.slice(end, end + AFTER).toLowerCase()) === 'entry'
    ? { kind: 'entry', isNext: false, between: '' }
    : undefined;
}

/** The word from `start` to `end`, where it is said behind it what it is: `Winter#44 as the new password`. */
function wordBehind(
  text: string,
  start: number,
  end: number,
  mayBe: (value: string, link: Link) => boolean,
): (Word & { readonly by: Announcing }) | undefined {
  const first = text.charCodeAt(end) === 32 ? end + 1 : text.charCodeAt(end + 1) === 32 ? end + 2 : -1;
  const letter = text.charCodeAt(first);
  if (first < 0 || (letter !== 97 && letter !== 99 && letter !== 106)) return undefined;
  let last = first;
  while (last - first < LONGEST_LINK && isWordLetter(text.charCodeAt(last))) last += 1;
  if (linkAt(text, first, last) !== 'as') return undefined;
  const value = text.slice(start, end);
  if (!mayBe(value, 'behind')) return undefined;
  const kind = announcedBy(text.slice(last, last + REACH).toLowerCase());
  return kind && { start, end, value, by: { kind, isNext: false, between: '', link: 'behind' } };
}

/** The word from `start` to `end`, where one that announces it stands a few words before it: `the old password Winter#44`. */
function looseWord(
  text: string,
  start: number,
  end: number,
  before: number,
  mayBe: (value: string, link: Link) => boolean,
): (Word & { readonly by: Announcing }) | undefined {
  if (end - start < SHORTEST_LOOSE || !isWordLetter(text.charCodeAt(before - 1))) return undefined;
  let last = end;
  while (last > start && '.:?…'.includes(text[last - 1] as string)) last -= 1;
  const value = text.slice(start, last);
  if (!mayBe(value, 'loose')) return undefined;
  const by = announcementIn(text.slice(Math.max(0, before - NEARBY), before).toLowerCase(), 'secret');
  return by && { start, end: last, value, by: { ...by, link: 'loose' } };
}

/** How far behind a value it may be said what was done: `auf Winter#44 zurückgesetzt`. */
export const AFTER = 24;

/** Whether a question ends right before: `what's the username again? ah, `. */
function isAnswer(text: string, before: number): boolean {
  return text.slice(Math.max(0, before - ANSWER), before).includes('?');
}

const ANSWER = 16;

/** What a link means in a sentence; undefined where it links nothing. */
function meaningOf(link: Link, said: string, after: string): Exclude<Link, 'to'> | undefined {
  if (link === 'comma' && isAnswer(said, said.length)) return 'sign';
  if (link !== 'change' && link !== 'to') return link;
  if (saysChanged(said) || saysChanged(after)) return 'change';
  return link === 'to' && isPolish(said) ? 'be' : undefined;
}
