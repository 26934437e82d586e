import { mayEndLogin } from './announced-login.ts';
import { mayBeInSecret } from './announced-secret.ts';
import { isWordLetter } from './announced.ts';
import { announcementIn } from './announcing-words.ts';
import { isCapital, isDigit, isLetter } from './characters.ts';
import type { Match } from '../match.ts';
import type { Detector } from './detector.ts';
import { ANY_DIGIT, digitContextAt } from './digit-context.ts';
import { isCandidate, stretchAround, tokensAround } from './login-candidates.ts';
import { createFeatures, featuresOf } from './login-features.ts';
import { KINDS, readLoginModel } from './login-model.ts';
import { type Cue, cueOf, hasCue, LONGEST, type Token, tokenEnd, tokenStart } from './login-tokens.ts';
import { isNobodysLogin, loginShapeOf } from './login-value.ts';
import { isPassword, isSpecification } from './secret-value.ts';

const model = readLoginModel();
const features = createFeatures();
const scores = new Float64Array(KINDS);

/** How much likelier than anything else a word must be a login or password: natural logarithms, chosen on texts without any. */
const LEAST = { marked: 0, plain: 2, password: -0.5 };
const LETTERS = /^\p{Ll}+$/u;
const CODE = /^\d{4,8}#?$/;
type Kind = 'USERNAME' | 'SECRET';

/** Cues that must stand near a login, and near a password. */
const CUES_OF: Readonly<Record<Kind, ReadonlySet<Cue>>> = {
  USERNAME: new Set(['login', 'user', 'entry']),
  SECRET: new Set(['password', 'code']),
};
const NEAR = 64;
const NEAR_BEHIND = 48;

/** The login or password that the word at `index` is. */
function judged(text: string, tokens: readonly Token[], index: number, kind: Kind): Match | undefined {
  const { start, end: tokenEnds } = tokens[index] as Token;
  if (!isCandidate(text, tokens, index, model.known)) return undefined;
  const value = trimmed(text.slice(start, tokenEnds), kind);
  const least = leastOf(text, start, value, kind);
  if (least === undefined) return undefined;
  featuresOf(features, text, tokens, index, model.known);
  model.score(features, scores);
  const [none = 0, login = 0, password = 0] = scores;
  const margin = kind === 'SECRET' ? password - Math.max(none, login) : login - Math.max(none, password);
  return margin > least ? { start, end: start + value.length, category: kind } : undefined;
}

/** A word without the signs behind it that end a sentence; a password may end with one of them. */
function trimmed(word: string, kind: Kind): string {
  let end = word.length;
  while (end > 0 && (kind === 'USERNAME' ? '.?!…*' : '.?…*').includes(word[end - 1] as string)) end -= 1;
  return word.slice(0, end);
}

function leastOf(text: string, start: number, value: string, kind: Kind): number | undefined {
  return kind === 'SECRET' ? leastOfSecret(text, start, value) : leastOfLogin(value);
}

/** How much likelier than anything else a word must be a login to be one; undefined where it never is. */
function leastOfLogin(value: string): number | undefined {
  if (LETTERS.test(value)) return isNobodysLogin(value) ? undefined : LEAST.plain;
  return loginShapeOf(value) === undefined ? undefined : LEAST.marked;
}

/** Codes of doors: `84B19`. */
const SHORT = /^(?=.{0,4}\d)(?=.{0,4}\p{L})[\p{L}\d!#$*-]{4,5}$/u;

/** The same of a password: no stand-in, measure, standard or path of code is one, and digits alone only what opens something. */
function leastOfSecret(text: string, start: number, value: string): number | undefined {
  if (CODE.test(value)) {
    const said = text.slice(Math.max(0, start - NEAR), start).toLowerCase();
    return announcementIn(said, 'secret')?.kind === 'code' ? LEAST.password : undefined;
  }
  return (SHORT.test(value) || isPassword(value)) && !isSpecification(value) ? LEAST.password : undefined;
}

/** Whether letters stand with digits or signs that only logins and passwords have, from `start` to `end`, and not as in `DE89`. */
function isMixed(text: string, start: number, end: number): boolean {
  if (end - start <= SHORTEST || (end - start === SHORTEST + 1 && isCapital(text.charCodeAt(start)))) return false;
  let letters = 0;
  let others = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (isWordLetter(code)) letters += 1;
    else if (isDigit(code) || MIXED_SIGNS.includes(code)) others += 1;
  }
  return letters > 0 && others > 0;
}

/** `!#$%&_` */
const MIXED_SIGNS: readonly number[] = [33, 35, 36, 37, 38, 95];

const BRACKET = 40;
const SLASH = 47;
const EQUALS = 61;
/** Longer ones are numbers of things, such as UUIDs. */
const LONGEST_MIXED = 32;
const SHORTEST = 3;
const SHORTEST_PASSWORD = 6;
const PIN = /^\d{4,8}#?[.!?]?$/;
const READ = 4096;

/** Whether the word from `start` to `end` may be a login or password at all, and a word near it announces one. */
function isPromising(text: string, start: number, end: number, kind: Kind): boolean {
  if (end - start > LONGEST_MIXED || end - start < SHORTEST) return false;
  const after = text.charCodeAt(end);
  if (after === BRACKET || after === EQUALS || after === SLASH) return false;
  const isNumber = isDigit(text.charCodeAt(start)) && PIN.test(text.slice(start, end));
  if (isNumber ? kind === 'USERNAME' : !isMixed(text, start, end)) return false;
  // Cheaper than to look for words, where many such words stand.
  const isShort = end - start < SHORTEST_PASSWORD;
  if (
    (kind === 'USERNAME' || isShort) &&
    leastOf(text, start, trimmed(text.slice(start, end), kind), kind) === undefined
  )
    return false;
  return (
    hasCue(text, Math.max(0, start - NEAR), start, CUES_OF[kind]) ||
    hasCue(text, end, Math.min(text.length, end + NEAR_BEHIND), CUES_OF[kind])
  );
}

/** Looks at the word around the digit or sign at `at`. */
function valueAt(text: string, at: number, floor: number, kind: Kind, found: Match[]): number {
  const start = tokenStart(text, at, Math.max(0, at - LONGEST));
  const end = tokenEnd(text, at, Math.min(text.length, at + READ));
  if (start < floor || !isPromising(text, start, end, kind)) return Math.max(floor, end);
  const { tokens, index } = tokensAround(text, start, end);
  const span = index < 0 ? undefined : judged(text, tokens, index, kind);
  if (span !== undefined) found.push(span);
  return Math.max(floor, end);
}

/** Looks for logins around the word at `at`, where that announces any. */
function announcedNear(text: string, at: number, floor: number, found: Match[]): number {
  const start = tokenStart(text, at, Math.max(0, at - LONGEST));
  let end = tokenEnd(text, at, Math.min(text.length, at + LONGEST));
  while (end > start && '.?!*'.includes(text[end - 1] as string)) end -= 1;
  if (cueOf(text.slice(start, end).toLowerCase()) === undefined) return floor;
  const { tokens, from, to } = stretchAround(text, at, floor);
  tokens.forEach((token, index) => {
    const span = token.start >= from && token.start < to ? judged(text, tokens, index, 'USERNAME') : undefined;
    if (span !== undefined) found.push(span);
  });
  return Math.max(floor, to);
}

/** Words that announce logins, around a rare letter of theirs. */
const CUES = [
  '[lL]o>gin[ n?]',
  '[lL]o>g in',
  '[lL]o>gged in',
  '[lL]o>guj',
  'lo>gnaam',
  '[^a-z]>user[ n?:]',
  '>User[ n?:]',
  '[^a-z]>usu[aá]rio',
  '>Usu[aá]rio',
  '[^a-z]>utili[sz]',
  '>Utili[sz]',
  '[^a-z]>utente',
  '>Utente',
  '[^a-z]>uż',
  '>Uż',
  '[nN]>utzer',
  'r>uiker',
  '[cC]co>unt ',
  '[cC]>uenta ',
  '[eE]nn>ung ',
  '>Konto ',
];

/** Logins in running text that a small model tells by their make-up and the words around them. */
export const learnedLogin: Detector = {
  category: 'USERNAME',
  evidence: 'shaped',
  triggers: `_guUK${ANY_DIGIT}`,
  near: CUES,
  meaning: 'Logins in sentences of no known frame, by a small model of the word and the words around it.',
  examples: ['Please tell me whether ‹rdonnelly12› is a valid login.'],
  ignores: ['Please tell me whether the login page is valid.'],
  prefilter: mayEndLogin,
  detect(text, at, floor, found): number {
    const code = text.charCodeAt(at);
    if (isLetter(code)) return announcedNear(text, at, floor, found);
    return isDigit(code) && !mayEndLogin(digitContextAt(text, at))
      ? floor
      : valueAt(text, at, floor, 'USERNAME', found);
  },
};

/** The same of passwords, PINs and codes of doors. */
export const learnedSecret: Detector = {
  category: 'SECRET',
  evidence: 'shaped',
  triggers: `!#$&${ANY_DIGIT}`,
  meaning: 'Passwords in sentences of no known frame, by the same model.',
  examples: ['I typed ‹Regenbogen#71› but the password is refused.'],
  ignores: ['I typed a password but it is refused.'],
  prefilter: mayBeInSecret,
  detect(text, at, floor, found): number {
    if (isDigit(text.charCodeAt(at)) && !mayBeInSecret(digitContextAt(text, at))) return floor;
    return valueAt(text, at, floor, 'SECRET', found);
  },
};
