import { isWordLetter } from './announced.ts';
import { LOGIN_WORDS } from './announced-login.ts';
import { isSmall } from './characters.ts';
import type { Match } from '../match.ts';
import type { Detector } from './detector.ts';
import { judged, model } from './learned-login.ts';
import { isCompound } from './login-candidates.ts';
import { hashOf, SECOND_SEED, SEED, stepOfHash } from './login-hash.ts';
import { BREAKS, cueBits, LINE_END, mayAnnounce } from './login-tokens.ts';
import { isNobodysLogin, loginShapeOf } from './login-value.ts';

/** How much likelier than anything else a word of small letters must be a login, and one with a hyphen: natural logarithms. */
const LEAST = { letters: -1.2, hyphenated: -0.3 };
/** What announces logins of letters alone. */
const CUES = cueBits(['login', 'user', 'entry', 'password', 'access']);
const BEFORE = 64;
const BEHIND = 48;
const SHORTEST = 4;
const LONGEST = 24;
const LONGEST_CUE = 20;
const SHORTEST_TEXT = 12;
const HYPHEN = 45;
/** What texts in the other languages have soon; in English, words with rare letters announce logins. */
const OTHER_LANGUAGE =
  /[\u00df-\u017f]|(?<![a-z])(?:de[lnrs]?|d[iu]|das|dem|le[is]?|los|e[ln]|een|het|il|che|con|una?|und|ist|ich|nicht|que|qui|est|pas|van|voor|niet|nie|jest|dla|para|com|um[ae]?|mit|von|bei|zu|sur|pour|mein|mijn|mia|meu|minha|proszę|prosz|hasło|konto) /i;
const BEGINNING = 320;

/** Logins of letters alone in running text, near a word that announces them: no ordinary word is one. */
export const learnedWord: Detector = {
  category: 'USERNAME',
  evidence: 'shaped',
  triggers: 'gwuUK',
  near: [...LOGIN_WORDS, '>w[od]'],
  meaning: 'Logins of letters alone in sentences of no known frame, by the same model.',
  examples: ['Do you know why ‹pdrummond› is thrown out of the account every ten minutes?'],
  ignores: ['Do you know why the printer drops out of the account every ten minutes?'],
  detect(text, at, floor, found): number {
    let start = at;
    while (at - start < LONGEST_CUE && isWordLetter(text.charCodeAt(start - 1))) start -= 1;
    let end = at + 1;
    while (end - at < LONGEST_CUE && isWordLetter(text.charCodeAt(end))) end += 1;
    if (!mayAnnounce(text, start, end, CUES)) return floor;
    if (found !== ofDetect.found) ofDetect = { found, read: 0 };
    lookAround(text, start, end, ofDetect);
    return end;
  },
  sweeps: (text) =>
    text.length >= SHORTEST_TEXT && OTHER_LANGUAGE.test(text.length > BEGINNING ? text.slice(0, BEGINNING) : text),
  sweep(text, from, to, found): void {
    const reading = { found, read: from };
    for (let at = from; at < to; at += 1) {
      if (!isWordLetter(text.charCodeAt(at))) continue;
      const start = at;
      while (isWordLetter(text.charCodeAt(at))) at += 1;
      if (mayAnnounce(text, start, at, CUES)) lookAround(text, start, at, reading);
    }
  },
};

/** How far the words of a text were looked at: each is once. */
interface Reading {
  readonly found: Match[];
  read: number;
}

/** That of the text whose matches are in `found`. */
let ofDetect: Reading = { found: [], read: 0 };

/** Looks at the words of the line near the one from `start` to `end`. */
function lookAround(text: string, start: number, end: number, reading: Reading): void {
  const least = Math.max(reading.read, start - BEFORE);
  let from = start;
  while (from > least && text.charCodeAt(from - 1) !== LINE_END) from -= 1;
  while (from > reading.read && from < start && !isBreak(text.charCodeAt(from - 1))) from += 1;
  lookIn(text, from, start, reading);
  lookIn(text, Math.max(reading.read, end), Math.min(text.length, end + BEHIND), reading);
}

function isBreak(code: number): boolean {
  return code < BREAKS.length && BREAKS[code] !== 0;
}

/** Looks at the words that begin from `from` on, before `to` and on the same line. */
function lookIn(text: string, from: number, to: number, reading: Reading): void {
  let at = from;
  for (; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (isBreak(code)) {
      if (code === LINE_END) break;
      continue;
    }
    const start = at;
    let hash = SEED;
    for (let next = code; isSmall(next); next = text.charCodeAt((at += 1))) hash = stepOfHash(hash, next);
    const letters = at - start;
    const end = letters > 0 && text.charCodeAt(at) === HYPHEN ? hyphenatedEnd(text, at) : at;
    at = wordEnd(text, end);
    if (end - start < SHORTEST || end - start > LONGEST || !isEnding(text, end, at)) continue;
    if (end - start === letters) lookAtWord(text, start, end, hash, reading.found);
    else if (letters > 0) lookAtParts(text, start, end, reading.found);
  }
  reading.read = Math.max(reading.read, at);
}

/** Where small letters with up to two hyphens among them end. */
function hyphenatedEnd(text: string, from: number): number {
  let end = from;
  for (
    let hyphens = 0;
    hyphens < 2 && text.charCodeAt(end) === HYPHEN && isSmall(text.charCodeAt(end + 1));
    hyphens += 1
  ) {
    end += 1;
    while (isSmall(text.charCodeAt(end))) end += 1;
  }
  return end;
}

function wordEnd(text: string, from: number): number {
  const most = Math.min(text.length, from + LONGEST);
  let end = from;
  while (end < most && !isBreak(text.charCodeAt(end))) end += 1;
  return end;
}

/** Whether the text between them ends a sentence, or marks a word: nothing more. */
function isEnding(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== 46 && code !== 63 && code !== 33 && code !== 42 && code !== 0x2026) return false;
  }
  return true;
}

/** Hashes of ordinary words that were met, since few are met often: the list of all does not fit where memory is fast. */
const MET = new Int32Array(2048);

function lookAtWord(text: string, start: number, end: number, hash: number, found: Match[]): void {
  const slot = (hash ^ (hash >>> 16)) & (MET.length - 1);
  if (MET[slot] === hash) return;
  if (model.knows(hash, hashOf(SECOND_SEED, text, start, end))) {
    MET[slot] = hash;
    return;
  }
  const word = text.slice(start, end);
  if (!isNobodysLogin(word) && !isCompound(word, model.known)) judge(text, start, end, LEAST.letters, found);
}

/** The same of a word with hyphens; of known words of some length it is an ordinary one. */
function lookAtParts(text: string, start: number, end: number, found: Match[]): void {
  const word = text.slice(start, end);
  if (loginShapeOf(word) !== 'hyphenated') return;
  if (word.split('-').every((part) => part.length >= SHORTEST && model.known(part))) return;
  judge(text, start, end, LEAST.hyphenated, found);
}

function judge(text: string, start: number, end: number, least: number, found: Match[]): void {
  const match = judged(text, start, end, 'USERNAME', least);
  if (match !== undefined) found.push(match);
}
