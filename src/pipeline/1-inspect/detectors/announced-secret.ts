import { announcedAt, type Announcing } from './announced.ts';
import type { Link } from './announcing-words.ts';
import { isAlphanumeric, isDigit } from './characters.ts';
import { ANY_DIGIT, type Examiner } from './examiner.ts';
import { endsSaying, isLetterKind, type Kind, type Look, lookAt } from './look.ts';
import { isPassword, isPasswordInProse, isSpecification } from './secret-value.ts';

/**
 * Passwords, PINs and access codes in running text: what such a word announces in the same sentence, with "is", "changed
 * to", a colon or nothing between. A password has digits or signs among its letters, and is no measure, version, algorithm
 * or file; digits alone are a PIN or an access code only: "the password is 12 characters long".
 */
export const announcedSecret: Examiner = {
  category: 'SECRET',
  evidence: 'shaped',
  triggers: `!#$&${ANY_DIGIT}`,
  wants: mayHold,
  examine(text, at, floor, found): number {
    if (!isDigit(text.charCodeAt(at)) && !isAlphanumeric(text.charCodeAt(at - 1))) return floor;
    const token = announcedAt(text, at, mayBeSecret);
    if (typeof token === 'number') return Math.max(floor, token);
    const { start, end, value, by } = token;
    if (start < floor || !isSecret(value, by)) return floor;
    if (isDigit(text.charCodeAt(at)) && !mayHold(lookAt(text, at))) return floor;
    if (DIGITS.test(value) && !ENDS.test(text.slice(end, end + 8))) return floor;
    found.push({ start, end, category: 'SECRET' });
    return end;
  },
};

/** Digits among the letters and signs of a password, or enough to be a PIN; not those of identifiers with hyphens. */
function mayHold({ earlier, before, next, length }: Look): boolean {
  if (before === 'space') return (length >= 4 && endsSaying(next)) || next === 'other' || isLetterKind(next);
  if (isAnyLetter(before)) return length === 1 || (next !== 'hyphen' && !isLetterKind(next));
  return (before === 'other' || before === 'hyphen' || before === 'dot') && isAnyLetter(earlier);
}

function isAnyLetter(kind: Kind): boolean {
  return isLetterKind(kind) || kind === 'wide';
}

const DIGITS = /^\d{4,8}$/;
/** What may follow a number that is not of something: "is 4471, in case", and not "is 2048 bits". */
const ENDS = /^(?:[.,;!?)"'”“»\n]|\s?$)/;
/** A code of capitals or small letters with digits, as doors and gates have: `84B19`. */
const CODE = /^(?=\D*\d)(?=.*[a-zA-Z])[a-zA-Z\d]{4,8}$/;
/** Letters with a sign within: `tangerine!dream`. */
const SIGN_WITHIN = /^[\p{L}\p{N}]{2,}[!#$%&*§][\p{L}\p{N}!#$%&*§]+$/u;
/** A word and an exclamation mark, which is one behind a colon: `Password: Welcome!`. */
const EXCLAIMED = /^\p{Lu}[\p{L}\d]{4,}!$/u;
const SAID = /^(?:success|error|failed|failure|invalid|wrong|denied|warning|attention|achtung|fehler|erreur|done)/i;

function mayBeSecret(value: string, link: Link): boolean {
  if (link === 'as' || link === 'with') return false;
  if (DIGITS.test(value)) return link !== 'change';
  const isShort = link !== 'change' && link !== 'to' && CODE.test(value);
  return (isShort || isPassword(value)) && !isSpecification(value);
}

function isSecret(value: string, { kind, link, isNext }: Announcing): boolean {
  if (kind !== 'password' && kind !== 'code') return false;
  if (link === 'next' && !isNext) return false;
  if (kind === 'code' && (DIGITS.test(value) || CODE.test(value))) return true;
  if (DIGITS.test(value)) return false;
  if (EXCLAIMED.test(value)) return link === 'sign' && !SAID.test(value);
  if (isPasswordInProse(value)) return true;
  return (
    link !== 'next' &&
    ((SIGN_WITHIN.test(value) && !value.endsWith('!')) || (link !== 'change' && CODE.test(value) && value.length > 5))
  );
}
