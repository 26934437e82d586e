import { announcedAfter } from './announced-after.ts';
import { announcedAt, type Announcing } from './announced.ts';
import type { Link } from './announcing-words.ts';
import { isAlphanumeric, isDigit } from './characters.ts';
import {
  ANY_DIGIT,
  endsSaying,
  isLetterKind,
  type Neighbour as Kind,
  type DigitContext as Look,
  digitContextAt as lookAt,
} from './digit-context.ts';
import type { Detector } from './detector.ts';
import { isPassword, isPasswordInProse, isSpecification } from './secret-value.ts';

/**
 * Passwords, PINs and access codes in running text: what such a word announces in the same sentence, with "is", "changed
 * to", a colon or nothing between. A password has digits or signs among its letters, and is no measure, version, algorithm
 * or file; digits alone are a PIN or an access code only: "the password is 12 characters long".
 */
export const announcedSecret: Detector = {
  category: 'SECRET',
  evidence: 'shaped',
  meaning: 'Passwords, PINs and access codes in running text, behind a word that announces them.',
  examples: ['The password is ‹Sommer#2041› as always.', 'Die PIN lautet ‹4711›.'],
  ignores: ['The password is required.'],
  triggers: `!#$&w${ANY_DIGIT}`,
  near: ['>w[od]'],
  prefilter: mayBeInSecret,
  detect(text, at, floor, found): number {
    if (text.charCodeAt(at) === W) {
      const word =
        isRight(text, at) && WORDS_IN_ONE.test(text.slice(at, at + 64))
          ? announcedAfter(text, at, opens, mayBeWords)
          : undefined;
      if (word === undefined || word.start < floor) return floor;
      found.push({ start: word.start, end: word.end, category: 'SECRET' });
      return word.end;
    }
    if (!isDigit(text.charCodeAt(at)) && !isAlphanumeric(text.charCodeAt(at - 1))) return floor;
    const token = announcedAt(text, at, 'secret', mayBeSecret);
    if (typeof token === 'number') return Math.max(floor, token);
    const { start, end, value, by } = token;
    if (start < floor || !isSecret(value, by)) return floor;
    if (by.link === 'comma' && text.charCodeAt(end) !== COMMA) return floor;
    if (isDigit(text.charCodeAt(at)) && !mayBeInSecret(lookAt(text, at))) return floor;
    if (DIGITS.test(value) && !ENDS.test(text.slice(end, end + 8))) return floor;
    found.push({ start, end, category: 'SECRET' });
    return end;
  },
};

/** Digits among the letters and signs of a password, or enough to be a PIN; not those of identifiers with hyphens. */
export function mayBeInSecret({ earlier, before, next, later, length }: Look): boolean {
  if (before === 'space') {
    if (length >= 4 && endsSaying(next)) return true;
    // A closing quote, or a blank and one: `“`, ` »`.
    return next === 'other' || next === 'wide' || isLetterKind(next) || (next === 'space' && later === 'other');
  }
  if (isAnyLetter(before)) return length === 1 || (next !== 'hyphen' && !isLetterKind(next));
  return (before === 'other' || before === 'hyphen' || before === 'dot') && isAnyLetter(earlier);
}

function isAnyLetter(kind: Kind): boolean {
  return isLetterKind(kind) || kind === 'wide';
}

const COMMA = 44;
/** Capitals, small letters and digits, or digits with a sign that only passwords have. */
const SIGNED = /[!#$%&*]/;
/** What a password is said to be right behind the word for it. */
const OLD_OR_NEW =
  /^[a-zà-ż]{0,4} (?:ini[ct]i?ale?|iniziale|początkowe|tempora[il]\w{0,2}|provis\w{2,8}|antig[uo]a?|antiga|vieja|velha|nueva|nova|nuova|nowe|stare|tymczasowe|actuel|actual|attuale|atual|obecne)$/;
const STRONG = /^(?=.*\d)(?=.*[a-z])(?:(?=.*[A-Z])[\w-]*|.*[!#$%&*].*)$/;
const W = 119;
const WORDS_IN_ONE = / [A-Z][a-z]{2,12}[A-Z][a-z]/;
const OPENS = /^(?:[a-zäöü]{0,20})(?:password|passwort|kennwort|wachtwoord)$/;
/** Words in one that are products, or that types and fields are named with. */
const NO_WORDS =
  /^(?:WordPress|OneDrive|SharePoint|YouTube|LinkedIn|PayPal|PowerShell|FaceTime|iCloud|CyberArk|DropBox)$|Git|Script|Pass(?!age)|Vault|Crypt|Locker|Login|String|Str$|Hash|Value|Type|Field|Input|Token|Secret|Password|Policy|Null|Provider|Manager|Service|Error|Request|Response|Reset|Required|Optional/;

function opens(word: string): boolean {
  return OPENS.test(word);
}

function mayBeWords(value: string): boolean {
  return value.charCodeAt(0) < 97 && !NO_WORDS.test(value);
}

/** Whether the `w` at `at` is that of "password" and not of "would". */
function isRight(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return (before === 115 || before === 110 || before === 116) && text.charCodeAt(at + 1) === 111;
}

const DIGITS = /^\d{4,8}$/;
/** What may follow a number that is not of something: "is 4471, in case", and not "is 2048 bits". */
const ENDS = /^(?:[.,;!?)"'”“»\n]|\s?$)/;
/** A code of capitals or small letters with digits, as doors and gates have: `84B19`. */
const CODE = /^(?=\D*\d)(?=.*[a-zA-Z])[a-zA-Z\d]{4,8}$/;
/** Letters with a sign within: `tangerine!dream`. */
const SIGN_WITHIN = /^[\p{L}\p{N}]{2,}[!#$%&*§][\p{L}\p{N}!#$%&*§]+$/u;
/** A word and an exclamation mark, which is one behind a colon: `Password: Welcome!`. */
const EXCLAIMED = /^\p{Lu}\p{L}{4,}!$/u;
const SAID = /^(?:success|error|failed|failure|invalid|wrong|denied|warning|attention|achtung|fehler|erreur|done)/i;

function mayBeSecret(value: string, link: Link): boolean {
  if (link === 'with') return false;
  if (link === 'loose') return STRONG.test(value) && isPasswordInProse(value);
  const isLoose = link === 'as' || link === 'behind';
  if (isLoose && !STRONG.test(value) && !SIGN_WITHIN.test(value)) return false;
  if (DIGITS.test(value)) return !isLoose;
  if (link === 'comma') return isPasswordInProse(value);
  const isShort = link !== 'change' && link !== 'to' && !isLoose && CODE.test(value);
  return (isShort || isPassword(value)) && !isSpecification(value);
}

function isSecret(value: string, { kind, link, isNext, between }: Announcing): boolean {
  if (kind !== 'password' && kind !== 'code') return false;
  if (link === 'next' && !isNext) return false;
  if (link === 'loose') return kind === 'password' && (SIGNED.test(value) || OLD_OR_NEW.test(between));
  if (link === 'comma' || link === 'behind')
    return kind === 'code' ? link === 'comma' && DIGITS.test(value) : isPasswordInProse(value);
  if (kind === 'code' && (DIGITS.test(value) || CODE.test(value))) return true;
  if (DIGITS.test(value)) return false;
  if (EXCLAIMED.test(value)) return link === 'sign' && !SAID.test(value);
  if (isPasswordInProse(value)) return true;
  return (
    link !== 'next' &&
    ((SIGN_WITHIN.test(value) && !value.endsWith('!')) || (link !== 'change' && CODE.test(value) && value.length > 5))
  );
}
