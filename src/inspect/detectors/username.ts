import { isLetter } from './characters.ts';
import type { Detector } from './detector.ts';
import { isNobodysLogin } from './login-value.ts';
import { spoken } from './secret-assignment.ts';

/** Fields for a login. Those that hold other things too, such as an object of code, need a sign that this is a value. */
const SURE =
  /(?:^|[^a-z])(?:user[_ -]?name|user[_ -]?id|login[_ -]?name|(?:be)?nutzer(?:name|kennung)|anmeldename|inlognaam|nom d'utilisateur|identifiant|nombre de usuario|nome utente|gebruikersnaam|nazwa u[zż]ytkownika|nome de (?:usu[aá]rio|utilizador)|username|login)["'`\]]{0,2} ?$/i;
const LOOSE =
  /(?:^|[^a-z])(?:user|usr|benutzer|utilisateur|usuario|utente|gebruiker|u[zż]ytkownik|utilizador)["'`\]]{0,2}$/i;
const VALUE = /([ \t]?)(\\?["'`]?)([a-zA-Z][\w.-]{2,31})(?![\w@([/:\\\u00c0-\u024f-])/y;
const LOGIN = /\/\/([\w.+%-]{2,64}):[^\s/@"'`<>\\]{1,256}@/y;
/** `user ada1 with password …`, read backwards from the word. */
const SPOKEN =
  /(?:^|[^a-z])(?:user(?:name)?|benutzer(?:name)?|utente|usuario|utilisateur|gebruiker|login|account)[ :]{1,2}["'`]?([a-z_][\w.-]{2,31})["'`]?,? (?:with|and|mit|und|avec|et|con|y|e|com|met|en)(?: the| dem)? pas$/i;

/**
 * Logins: the name in `scheme://name:password@host`, the values of fields that are named for one, and the text
 * between "user" and "with password". Roles such as `root`, and the names of types and variables, do not match.
 */
export const username: Detector = {
  category: 'USERNAME',
  evidence: 'shaped',
  meaning: 'Logins in URLs and in fields that are named for them.',
  examples: ['login ok user=‹ljakobsen› ip=10.0.0.1', '{"username":"‹ada.byron›","role":"admin"}'],
  ignores: ['user: What is the capital of France?'],
  triggers: ':=w',
  near: ['>w[od]'],
  detect(text, at, floor, found): number {
    const start = text.charCodeAt(at) === 119 ? spokenBefore(text, at) : assignedAfter(text, at);
    if (start < floor) return floor;
    NAME.lastIndex = start;
    if (!NAME.test(text)) return floor;
    let end = NAME.lastIndex;
    while (text.charCodeAt(end - 1) === 46) end -= 1;
    const name = text.slice(start, end);
    if (end - start < 3 || isNobodysLogin(name)) return floor;
    found.push({ start, end, category: 'USERNAME' });
    return end;
  },
};

const NAME = /[\w.+%-]{2,64}/y;
const FIELD_REACH = 24;
const SPOKEN_REACH = 64;

/** Where the login starts that the `:` or `=` at `at` announces, or -1. */
function assignedAfter(text: string, at: number): number {
  if (text.charCodeAt(at + 1) === 47) {
    LOGIN.lastIndex = at + 1;
    return LOGIN.test(text) ? at + 3 : -1;
  }
  const before = text.charCodeAt(at - 1);
  if (!isLetter(before) && before !== 34 && before !== 39 && before !== 32) return -1;
  if (!mayEndField(text, at)) return -1;
  VALUE.lastIndex = at + 1;
  const value = VALUE.exec(text);
  if (value === null) return -1;
  const [, blank = '', quote = '', name = ''] = value;
  const field = text.slice(Math.max(0, at - FIELD_REACH), at);
  // Text that continues after the word is a sentence: `user: "What is left?"`, `Login: once a day`.
  if (quote === '' ? !isWhole(text, at, VALUE.lastIndex, name) : !text.startsWith(quote, VALUE.lastIndex)) return -1;
  const isQuoted = quote !== '' && (before === 34 || before === 39 || blank === '' || MARKED.test(name));
  const isPair = blank === '' && text.charCodeAt(at) === 61 && before !== 32;
  const isSure = SURE.test(field) && (quote !== '' || isPair || MARKED.test(name) || text.charCodeAt(at) === 58);
  if (!isSure && !((isQuoted || isPair) && LOOSE.test(field))) return -1;
  return at + 1 + blank.length + quote.length;
}

/** A login that no word is written as. */
const MARKED = /[\d_]|[a-z][.-][a-z]/i;
const MORE_WORDS = /[ \t]{1,8}[\p{L}\d]/uy;
/** What may follow a login on its line: another field, or how to get in. */
const FIELD_NEXT =
  /[ \t]{1,8}(?:(?:and|und|et|y|e|en|i|with|mit|ip|pass\w*|pwd|kennwort|wachtwoord|mot de|contrase|senha|has[lł]o|[\w-]{2,20}[=:])(?![a-z]))/iy;

/** Whether a value without quotes is all that its field holds, or one that can only be a login. */
function isWhole(text: string, at: number, end: number, name: string): boolean {
  if (MARKED.test(name) || text.charCodeAt(at) === 61) return true;
  FIELD_NEXT.lastIndex = end;
  if (FIELD_NEXT.test(text)) return true;
  MORE_WORDS.lastIndex = end;
  return !MORE_WORDS.test(text);
}

/** The last two letters of all names in `SURE` and `LOOSE`. */
const LAST_LETTERS = new Set(
  ['me', 'id', 'ng', 'ur', 'nt', 'io', 'te', 'am', 'ka', 'or', 'in', 'er', 'sr', 'ik'].map(pairOf),
);

function pairOf(letters: string): number {
  return (letters.charCodeAt(0) << 8) | letters.charCodeAt(1);
}

/** Whether the name before a sign of assignment ends as one for a login does. */
function mayEndField(text: string, at: number): boolean {
  let end = text.charCodeAt(at - 1) === 32 ? at - 1 : at;
  while (at - end < 4 && QUOTES.includes(text.charCodeAt(end - 1))) end -= 1;
  return LAST_LETTERS.has(((text.charCodeAt(end - 2) | 32) << 8) | text.charCodeAt(end - 1) | 32);
}

/** `"`, `'`, a backtick and `]`. */
const QUOTES: readonly number[] = [34, 39, 96, 93];

/** Where the login starts before the word "password" whose `w` is at `at`, or -1. */
function spokenBefore(text: string, at: number): number {
  if (text.charCodeAt(at - 1) !== 115 || text.charCodeAt(at - 2) !== 115 || !spoken(text, at, 0)) return -1;
  const before = text.slice(Math.max(0, at - SPOKEN_REACH), at - 1);
  const match = SPOKEN.exec(before);
  return match === null ? -1 : at - 1 - before.length + match.index + match[0].lastIndexOf(match[1] as string);
}
