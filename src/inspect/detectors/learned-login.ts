import { mayEndLogin } from './announced-login.ts';
import { mayBeInSecret } from './announced-secret.ts';
import { isCapital, isDigit, isLetter, isSmall } from './characters.ts';
import type { Match } from '../match.ts';
import type { Detector } from './detector.ts';
import { ANY_DIGIT, type DigitContext, isLetterKind } from './digit-context.ts';
import { isCandidate, tokensAround } from './login-candidates.ts';
import { isMixed, madeOf, mayBeLogin } from './login-make-up.ts';
import { createFeatures, featuresOf } from './login-features.ts';
import { KINDS, readLoginModel } from './login-model.ts';
import { cueBits, hasCueBefore, hasCueBehind, LONGEST, type Token, tokenEnd, tokenStart } from './login-tokens.ts';
import { loginShapeOf } from './login-value.ts';
import { isPassword, isSpecification } from './secret-value.ts';

export const model = readLoginModel();
const features = createFeatures();
const scores = new Float64Array(KINDS);

/**
 * How much likelier than anything else a word must be a login or password: natural logarithms, chosen on texts without any.
 * Words with digits, words in one, a name and a number (`Office365`), passwords, digits alone.
 */
const LEAST = {
  digits: -0.8,
  joined: 0.5,
  product: 2,
  password: -0.2,
  code: 0,
  short: 1,
  year: 2.5,
};
/** Codes that open nothing, in eight languages. */
const OTHER_CODES =
  /err(?:or|eur|o)|fehler|fout|błęd|status|exit|http|post(?:al|leit|code)|pocztow|fiscal|area|zip|rabat|discount|promo|descon|descuen|sconto|korting|produ|country|länder/i;
const YEAR = /^(?:19|20)\d\d$/;
const PRODUCT = /^(?:\p{Lu}\p{Ll}+\d+|[A-Z]{2,}-[\d-]+)$/u;
const CODE = /^\d{4,8}#?$/;
type Kind = 'USERNAME' | 'SECRET';

/** Cues that must stand near a login, and near a password. */
const CUES_OF: Readonly<Record<Kind, number>> = {
  USERNAME: cueBits(['login', 'user', 'entry', 'password', 'access']),
  SECRET: cueBits(['password', 'code']),
};
const CODES = cueBits(['code']);
const NEAR = 64;
const NEAR_BEHIND = 48;

/** The login or password that the word from `start` to `end` is, where so much likelihood makes it one. */
export function judged(text: string, start: number, end: number, kind: Kind, least: number): Match | undefined {
  const { tokens, index } = tokensAround(text, start, end);
  if (index < 0 || !isCandidate(text, tokens, index, model.known)) return undefined;
  featuresOf(features, text, tokens, index, model.known);
  model.score(features, scores);
  const [none = 0, login = 0, password = 0] = scores;
  const word = text.slice(start, end);
  const more = PLAIN.test(word) ? LIKE_LOGIN : 0;
  const [own, other] = kind === 'SECRET' ? [password, login + more] : [login + more, password];
  const rival = isOther(word, kind) ? other : -Infinity;
  const margin = own < rival ? -50 : Math.log(Math.exp(own - none) + Math.exp(rival - none));
  const token = tokens[index] as Token;
  const value = trimmed(text.slice(token.start, token.end), kind);
  return margin > least ? { start: token.start, end: token.start + value.length, category: kind } : undefined;
}

/** Small letters and digits make logins more often than passwords: "the password for abayer3". */
const PLAIN = /^[a-z]+\d{1,4}$/;
const LIKE_LOGIN = 1;

/** Whether a word may be a password as well as a login, or the other way round. */
function isOther(word: string, kind: Kind): boolean {
  const value = trimmed(word, kind);
  return kind === 'SECRET' ? loginShapeOf(value) !== undefined : isPassword(value) && !isSpecification(value);
}

/** A word without the signs behind it that end a sentence; a password may end with one of them. */
function trimmed(word: string, kind: Kind): string {
  let end = word.length;
  while (end > 0 && (kind === 'USERNAME' ? '.?!…*' : '.?…*').includes(word[end - 1] as string)) end -= 1;
  return word.slice(0, end);
}

/** How much likelier than anything else a word must be a login to be one; undefined where it never is. */
function leastOfLogin(value: string): number | undefined {
  const shape = loginShapeOf(value);
  if (shape === undefined || shape === 'hyphenated') return undefined;
  if (shape === 'joined') return LEAST.joined;
  return PRODUCT.test(value) ? LEAST.product : LEAST.digits;
}

/** Codes of doors: `84B19`. */
const SHORT = /^(?=.{0,4}\d)(?=.{0,4}\p{L})[\p{L}\d!#$*-]{4,5}$/u;

/** The same of a password: no stand-in, measure, standard or path of code is one, and digits alone only what opens something. */
function leastOfSecret(text: string, start: number, value: string): number | undefined {
  if (CODE.test(value)) {
    if (!isAnnounced(text, start, start + value.length, CODES)) return undefined;
    if (OTHER_CODES.test(text.slice(Math.max(0, start - NEAR), start + value.length + NEAR_BEHIND))) return undefined;
    return YEAR.test(value) ? LEAST.year : LEAST.code;
  }
  if (isSpecification(value)) return undefined;
  if (isPassword(value)) return LEAST.password;
  return SHORT.test(value) ? LEAST.short : undefined;
}

const BRACKET = 40;
const SLASH = 47;
const EQUALS = 61;
const DOT = 46;
const HYPHEN = 45;
/** Longer ones are numbers of things, such as UUIDs. */
const LONGEST_MIXED = 32;
const SHORTEST = 3;
const PIN = /^\d{4,8}#?[.!?]?$/;
const READ = 4096;
/** Ids of commits, chunks and colours: `eafa73`. */
const HEX = /^(?=(?:[^\d]*\d){2})[\da-f]{6,}$/;

/** Whether the word from `start` to `end` may be a login or password by its letters and signs: cheap, as most are neither. */
function mayBe(text: string, start: number, end: number, kind: Kind): boolean {
  const size = end - start;
  if (size > LONGEST_MIXED || size < SHORTEST) return false;
  const after = text.charCodeAt(end);
  if (after === BRACKET || after === EQUALS || after === SLASH) return false;
  const first = text.charCodeAt(start);
  const isShort = size === SHORTEST || (size === SHORTEST + 1 && isCapital(first));
  if (kind === 'USERNAME') return isLetter(first) && mayBeLogin(text, start, end, isShort);
  // Digits alone are judged behind a word for a code only.
  if (isDigit(first) && PIN.test(text.slice(start, end))) return isAnnounced(text, start, end, CODES);
  return !isShort && isMixed(madeOf(text, start, end)) && !HEX.test(text.slice(start, end));
}

/** Looks at the word around the digit or sign at `at`. */
function valueAt(text: string, at: number, floor: number, kind: Kind, found: Match[]): number {
  const start = tokenStart(text, at, Math.max(0, at - LONGEST));
  const end = tokenEnd(text, at, Math.min(text.length, at + READ));
  if (start < floor || !mayBe(text, start, end, kind) || !isAnnounced(text, start, end, CUES_OF[kind]))
    return Math.max(floor, end);
  const value = trimmed(text.slice(start, end), kind);
  const least = kind === 'SECRET' ? leastOfSecret(text, start, value) : leastOfLogin(value);
  const span = least === undefined ? undefined : judged(text, start, end, kind, least);
  if (span !== undefined) found.push(span);
  return Math.max(floor, end);
}

/** Whether a word of the same line, near the one from `start` to `end`, announces one of these. */
function isAnnounced(text: string, start: number, end: number, cues: number): boolean {
  return hasCueBefore(text, start, NEAR, cues) || hasCueBehind(text, end, NEAR_BEHIND, cues);
}

/** Logins in running text that a small model tells by their make-up and the words around them. */
export const learnedLogin: Detector = {
  category: 'USERNAME',
  evidence: 'shaped',
  triggers: `_.-${ANY_DIGIT}`,
  near: ['[a-z]>.[a-z]'],
  meaning: 'Logins in sentences of no known frame, by a small model of the word and the words around it.',
  examples: ['Please tell me whether ‹rdonnelly12› is a valid login.'],
  ignores: ['Please tell me whether the login page is valid.'],
  prefilter: mayEndLogin,
  detect(text, at, floor, found): number {
    const code = text.charCodeAt(at);
    if (code === HYPHEN && !isDigit(text.charCodeAt(at + 1))) return floor;
    if ((code === DOT || code === HYPHEN) && !isJoint(text, at)) return floor;
    return valueAt(text, at, floor, 'USERNAME', found);
  },
};

/** Whether the sign at `at` joins a word of small letters to another, or to digits, with nothing of code on either side. */
function isJoint(text: string, at: number): boolean {
  let start = at;
  while (at - start < LONGEST_PART && isSmall(text.charCodeAt(start - 1))) start -= 1;
  // A word may begin behind a blank or a quote.
  if (start === at || (start > 0 && !OPENS_WORD.includes(text[start - 1] as string))) return false;
  let end = at + 1;
  while (end - at < LONGEST_PART && (isSmall(text.charCodeAt(end)) || isDigit(text.charCodeAt(end)))) end += 1;
  return end > at + 1 && (end === text.length || ENDS_WORD.includes(text[end] as string));
}

const LONGEST_PART = 24;
const OPENS_WORD = ' \n\t"\'`“„«‹‘(*>:';
const ENDS_WORD = ' \n\t"\'`“”»›’)*<,;.!?:';

/** The same of passwords, PINs and codes of doors. */
export const learnedSecret: Detector = {
  category: 'SECRET',
  evidence: 'shaped',
  triggers: `!#$&${ANY_DIGIT}`,
  meaning: 'Passwords in sentences of no known frame, by the same model.',
  examples: ['I typed ‹Regenbogen#71› but the password is refused.'],
  ignores: ['I typed a password but it is refused.'],
  prefilter: mayBeLearned,
  detect: (text, at, floor, found) => valueAt(text, at, floor, 'SECRET', found),
};

/** The same as in frames, numbers with words on either side, and up to four digits among letters. */
function mayBeLearned(context: DigitContext): boolean {
  const { before, next, length } = context;
  if (before === 'space' && next === 'space' && length >= 4 && length <= 6) return true;
  return mayBeInSecret(context) || ((isLetterKind(before) || before === 'wide') && length <= 4);
}
