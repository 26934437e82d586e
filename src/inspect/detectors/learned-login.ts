import { mayEndLogin } from './announced-login.ts';
import { mayBeInSecret } from './announced-secret.ts';
import { isWordLetter } from './announced.ts';
import { isCapital, isDigit, isLetter } from './characters.ts';
import type { Match } from '../match.ts';
import type { Detector } from './detector.ts';
import { ANY_DIGIT, type DigitContext, digitContextAt } from './digit-context.ts';
import { isCandidate, stretchAround, tokensAround } from './login-candidates.ts';
import { createFeatures, featuresOf } from './login-features.ts';
import { KINDS, readLoginModel } from './login-model.ts';
import { type Cue, cueOf, hasCue, LONGEST, type Token, tokenEnd, tokenStart } from './login-tokens.ts';
import { isNobodysLogin, loginShapeOf, mayBeUnmarked } from './login-value.ts';
import { isPassword, isSpecification } from './secret-value.ts';

const model = readLoginModel();
const features = createFeatures();
const scores = new Float64Array(KINDS);

/**
 * How much likelier than anything else a word must be a login or password: natural logarithms, chosen on texts without any.
 * Words with digits, words in one, a name and a number (`Office365`), words of letters, passwords, digits alone.
 */
const LEAST = {
  digits: -0.3,
  joined: 0,
  hyphenated: 1.5,
  product: 2,
  unusual: -0.7,
  plain: 1,
  password: -0.8,
  code: -0.6,
  short: 1,
  year: 2.5,
};
/** Codes that open nothing, in eight languages. */
const OTHER_CODES =
  /err(?:or|eur|o)|fehler|fout|błęd|status|exit|http|post(?:al|leit|code)|pocztow|fiscal|area|zip|rabat|discount|promo|descon|descuen|sconto|korting|produ|country|länder/i;
const YEAR = /^(?:19|20)\d\d$/;
/** Numbers of accounts, documents and hosts, of which other detectors decide. */
const NUMBER = /\d{10}|\d\.\d/;
const PRODUCT = /^(?:\p{Lu}\p{Ll}+\d+|[A-Z]{2,}-[\d-]+)$/u;
const LETTERS = /^[a-z]+$/;
const CODE = /^\d{4,8}#?$/;
type Kind = 'USERNAME' | 'SECRET';

/** Cues that must stand near a login, and near a password. */
const CUES_OF: Readonly<Record<Kind, ReadonlySet<Cue>>> = {
  USERNAME: new Set(['login', 'user', 'entry', 'password']),
  SECRET: new Set(['password', 'code']),
};
const CODES: ReadonlySet<Cue> = new Set(['code']);
const NEAR = 64;
const NEAR_BEHIND = 48;

/** The login or password that the word at `index` is. */
function judged(text: string, tokens: readonly Token[], index: number, kind: Kind): Match | undefined {
  const { start, end: tokenEnds } = tokens[index] as Token;
  if (!isCandidate(text, tokens, index, model.known)) return undefined;
  const value = trimmed(text.slice(start, tokenEnds), kind);
  const least = leastOf(text, start, value, kind);
  if (least === undefined || (LETTERS.test(value) && !isSaidInSentence(text, start, tokenEnds))) return undefined;
  featuresOf(features, text, tokens, index, model.known);
  model.score(features, scores);
  const [none = 0, login = 0, password = 0] = scores;
  const margin = kind === 'SECRET' ? password - Math.max(none, login) : login - Math.max(none, password);
  return margin > least ? { start, end: start + value.length, category: kind } : undefined;
}

const SENTENCES = /[.!?;]\s/;

/** Whether the sentence of a word announces a login, too, and not another one near it. */
function isSaidInSentence(text: string, start: number, end: number): boolean {
  const before = text
    .slice(Math.max(0, start - NEAR), start)
    .split(SENTENCES)
    .at(-1) as string;
  const behind = text.slice(end, end + NEAR_BEHIND).split(SENTENCES)[0] as string;
  return (
    hasCue(text, start - before.length, start, CUES_OF.USERNAME) ||
    hasCue(text, end, end + behind.length, CUES_OF.USERNAME)
  );
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
  if (LETTERS.test(value)) {
    if (isNobodysLogin(value)) return undefined;
    return mayBeUnmarked(value) ? LEAST.unusual : LEAST.plain;
  }
  const shape = loginShapeOf(value);
  if (shape === undefined || NUMBER.test(value)) return undefined;
  if (shape !== 'digits') return LEAST[shape];
  return PRODUCT.test(value) ? LEAST.product : LEAST.digits;
}

/** Codes of doors: `84B19`. */
const SHORT = /^(?=.{0,4}\d)(?=.{0,4}\p{L})[\p{L}\d!#$*-]{4,5}$/u;

/** The same of a password: no stand-in, measure, standard or path of code is one, and digits alone only what opens something. */
function leastOfSecret(text: string, start: number, value: string): number | undefined {
  if (CODE.test(value)) {
    const from = Math.max(0, start - NEAR);
    if (!hasCue(text, from, start, CODES) || OTHER_CODES.test(text.slice(from, start))) return undefined;
    return YEAR.test(value) ? LEAST.year : LEAST.code;
  }
  if (isSpecification(value)) return undefined;
  if (isPassword(value)) return LEAST.password;
  return SHORT.test(value) ? LEAST.short : undefined;
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

/** Whether a word is two of small letters with a full stop or a hyphen between. */
function isJoined(text: string, start: number, end: number): boolean {
  let joins = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === DOT || code === HYPHEN) joins += at + 1 < end ? 1 : 0;
    else if (code < 97 || code > 122) return at + 1 === end && joins === 1;
  }
  return joins === 1;
}

const DOT = 46;
const HYPHEN = 45;

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
  if (
    isNumber ? kind === 'USERNAME' : !isMixed(text, start, end) && !(kind === 'USERNAME' && isJoined(text, start, end))
  )
    return false;
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
  triggers: `_.-guUK${ANY_DIGIT}`,
  near: ['[a-z]>.[a-z]', ...CUES],
  meaning: 'Logins in sentences of no known frame, by a small model of the word and the words around it.',
  examples: ['Please tell me whether ‹rdonnelly12› is a valid login.'],
  ignores: ['Please tell me whether the login page is valid.'],
  prefilter: mayEndLogin,
  detect(text, at, floor, found): number {
    const code = text.charCodeAt(at);
    if (isLetter(code)) return announcedNear(text, at, floor, found);
    if ((code === DOT || code === HYPHEN) && !isJoint(text, at)) return floor;
    return isDigit(code) && !mayEndLogin(digitContextAt(text, at))
      ? floor
      : valueAt(text, at, floor, 'USERNAME', found);
  },
};

/** Whether the sign at `at` joins a word of small letters to another, or to digits, with nothing of code on either side. */
function isJoint(text: string, at: number): boolean {
  let start = at;
  while (at - start < LONGEST_PART && isSmall(text.charCodeAt(start - 1))) start -= 1;
  if (start === at || !isOpen(text, start)) return false;
  let end = at + 1;
  while (end - at < LONGEST_PART && (isSmall(text.charCodeAt(end)) || isDigit(text.charCodeAt(end)))) end += 1;
  return end > at + 1 && (end === text.length || ENDS_WORD.includes(text[end] as string));
}

/** Whether a word may begin at `at`: behind a blank or a quote. */
function isOpen(text: string, at: number): boolean {
  return at === 0 || OPENS_WORD.includes(text[at - 1] as string);
}

const LONGEST_PART = 24;
const OPENS_WORD = ' \n\t"\'`“„«‹‘(*>:';
const ENDS_WORD = ' \n\t"\'`“”»›’)*<,;.!?:';

function isSmall(code: number): boolean {
  return code > 96 && code < 123;
}

/** The same of passwords, PINs and codes of doors. */
export const learnedSecret: Detector = {
  category: 'SECRET',
  evidence: 'shaped',
  triggers: `!#$&${ANY_DIGIT}`,
  meaning: 'Passwords in sentences of no known frame, by the same model.',
  examples: ['I typed ‹Regenbogen#71› but the password is refused.'],
  ignores: ['I typed a password but it is refused.'],
  prefilter: mayBeLearned,
  detect(text, at, floor, found): number {
    if (isDigit(text.charCodeAt(at)) && !mayBeLearned(digitContextAt(text, at))) return floor;
    return valueAt(text, at, floor, 'SECRET', found);
  },
};

/** The same as in frames, and numbers with words on either side. */
function mayBeLearned(context: DigitContext): boolean {
  const { before, next, length } = context;
  return mayBeInSecret(context) || (before === 'space' && next === 'space' && length >= 4 && length <= 6);
}
