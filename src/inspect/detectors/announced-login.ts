import { announcedAfter } from './announced-after.ts';
import { announcedAt, type Announcing } from './announced.ts';
import type { Link } from './announcing-words.ts';
import { isAlphanumeric, isDigit, isLetter } from './characters.ts';
import {
  ANY_DIGIT,
  endsSaying,
  isLetterKind,
  type DigitContext as Look,
  digitContextAt as lookAt,
} from './digit-context.ts';
import type { Detector } from './detector.ts';
import { isUnusual, loginShapeOf, mayBeUnmarked } from './login-value.ts';

/** Words that announce logins of letters alone, around the letters of `near`. */
const OPENS =
  /^(?:log|loguj[eę]|login(?:em|u)?|(?:in|aan)?log(?:in)?naam|logged|user(?:name|s)?|usu[aá]rio|utente|utilisateur|utilizador|u[zż]ytkownik(?:a|iem|owi)?|(?:be)?nutzer(?:namen?|kennung|konto)?|kennung|gebruikers?(?:naam)?|account|cuenta|kont[oa])$/;
/** The rare letters of words that announce logins, with their surroundings. */
export const LOGIN_WORDS: readonly string[] = [
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
const HYPHEN = 45;
const NUMBER = /^\d{6,10}$/;

/**
 * Logins in running text: what a word such as "username" or "log in as" announces in the same sentence, with "is", a colon
 * or nothing between. A login has a mark that words have none of (`jdoe42`, `ada.byron`, `ada_b`), or is a first letter
 * with a surname (`mkowalski`). Other words are not logins: "the username is required".
 */
export const announcedLogin: Detector = {
  category: 'USERNAME',
  evidence: 'shaped',
  meaning: 'Logins in running text, behind a word such as "username" or "log in as".',
  examples: ['My username is ‹jharper42› and the page reloads.', 'Ich melde mich als ‹petra_lang› an.'],
  ignores: ['The username is required.'],
  triggers: `_-guUK${ANY_DIGIT}`,
  near: LOGIN_WORDS,
  prefilter: mayEndLogin,
  detect(text, at, floor, found): number {
    const code = text.charCodeAt(at);
    if (isLetter(code)) {
      const word = announcedAfter(text, at, opens, mayBeUnmarked);
      if (word === undefined || word.start < floor) return floor;
      found.push({ start: word.start, end: word.end, category: 'USERNAME' });
      return word.end;
    }
    if (code === HYPHEN && !(isAlphanumeric(text.charCodeAt(at - 1)) && isLetter(text.charCodeAt(at + 1))))
      return floor;
    const token = announcedAt(text, at, 'login', mayBeLogin);
    // A word with a hyphen may end with one that announces: `Windows-Login`.
    if (typeof token === 'number') return code === HYPHEN && token - at < 24 ? floor : Math.max(floor, token);
    const { start, end, value, by } = token;
    if (start < floor || !isLogin(value, by) || GOES_ON.test(text.slice(end, end + 2))) return floor;
    if (isDigit(code) && !mayEndLogin(lookAt(text, at))) return floor;
    found.push({ start, end, category: 'USERNAME' });
    return end;
  },
};

/** Digits at the end of a login, or long enough to be all of it. */
export function mayEndLogin({ before, next, length }: Look): boolean {
  if (isLetterKind(next) || next === 'hyphen') return false;
  return isLetterKind(before) || (before === 'space' && length >= 6 && endsSaying(next));
}

/** A call, a path or an address follows. */
const GOES_ON = /^(?:[([@/\\]|:\S)/;

function opens(word: string): boolean {
  return OPENS.test(word);
}

function mayBeLogin(value: string, link: Link): boolean {
  if (value.length < (link === 'to' ? 5 : 3)) return false;
  return NUMBER.test(value) || loginShapeOf(value) !== undefined;
}

function isLogin(value: string, { kind, link, isNext }: Announcing): boolean {
  const shape = loginShapeOf(value);
  if (shape === undefined) return kind === 'name' && (link === 'be' || link === 'sign');
  if (kind === 'entry') return link === 'as' || link === 'with' || link === 'sign';
  if (kind !== 'name' && (kind !== 'user' || (link === 'behind' && shape !== 'digits'))) return false;
  if (link === 'next') return isNext;
  if (link === 'with' || link === 'comma') return false;
  if (link === 'change') return kind === 'name' && (shape !== 'hyphenated' || isUnusual(value, 0));
  return shape !== 'hyphenated' || (link === 'sign' && (kind === 'name' || value === value.toLowerCase()));
}
