import { announcedAfter, announcedAt, type Announcing } from './announced.ts';
import type { Link } from './announcing-words.ts';
import { isDigit, isLetter } from './characters.ts';
import { ANY_DIGIT, type Examiner } from './examiner.ts';
import { endsSaying, isLetterKind, type Look, lookAt } from './look.ts';
import { loginShapeOf, mayBeUnmarked } from './login-value.ts';

/** Words that announce logins of letters alone, around the letters of `near`. */
const OPENS =
  /^(?:log|login(?:em|u|n?aam)?|logged|user(?:name|s)?|usu[aá]rio|utente|utilisateur|utilizador|u[zż]ytkownik(?:a|iem|owi)?|(?:be)?nutzer(?:name|kennung)?|gebruikers?(?:naam)?)$/;
const HYPHEN = 45;
const NUMBER = /^\d{6,10}$/;

/**
 * Logins in running text: what a word such as "username" or "log in as" announces in the same sentence, with "is", a colon
 * or nothing between. A login has a mark that words have none of (`jdoe42`, `ada.byron`, `ada_b`), or is a first letter
 * with a surname (`mkowalski`). Other words are not logins: "the username is required".
 */
export const announcedLogin: Examiner = {
  category: 'USERNAME',
  evidence: 'shaped',
  triggers: `_-gu${ANY_DIGIT}`,
  near: [
    'lo>gin[ n?]',
    'lo>g in',
    'lo>gged in',
    '[^a-z]>user[ n?]',
    '[^a-z]>usu[aá]rio',
    '[^a-z]>utili[sz]',
    '[^a-z]>utente',
    '[^a-z]>uż',
    'n>utzer',
    'r>uiker',
  ],
  wants: mayHold,
  examine(text, at, floor, found): number {
    const code = text.charCodeAt(at);
    if (isLetter(code)) {
      const word = announcedAfter(text, at, opens, mayBeUnmarked);
      if (word === undefined || word.start < floor) return floor;
      found.push({ start: word.start, end: word.end, category: 'USERNAME' });
      return word.end;
    }
    if (code === HYPHEN && !isLetter(text.charCodeAt(at - 1))) return floor;
    const token = announcedAt(text, at, mayBeLogin);
    if (typeof token === 'number') return Math.max(floor, token);
    const { start, end, value, by } = token;
    if (start < floor || !isLogin(value, by) || GOES_ON.test(text.slice(end, end + 2))) return floor;
    if (isDigit(code) && !mayHold(lookAt(text, at))) return floor;
    found.push({ start, end, category: 'USERNAME' });
    return end;
  },
};

/** Digits at the end of a login, or long enough to be all of it. */
function mayHold({ before, next, length }: Look): boolean {
  if (isLetterKind(next) || next === 'hyphen') return false;
  return isLetterKind(before) || (before === 'space' && length >= 6 && endsSaying(next));
}

/** A call, a path or an address follows. */
const GOES_ON = /^(?:[([@/\\]|:\S)/;

function opens(word: string): boolean {
  return OPENS.test(word);
}

function mayBeLogin(value: string, link: Link): boolean {
  if (link === 'change' || value.length < (link === 'to' ? 5 : 3)) return false;
  return NUMBER.test(value) || loginShapeOf(value) !== undefined;
}

function isLogin(value: string, { kind, link, isNext }: Announcing): boolean {
  const shape = loginShapeOf(value);
  if (shape === undefined) return kind === 'name' && (link === 'be' || link === 'sign');
  if (kind === 'entry') return link === 'as' || link === 'with' || link === 'sign';
  if (kind !== 'name' && kind !== 'user') return false;
  if (link === 'next') return isNext;
  if (link === 'with' || link === 'change') return false;
  return shape !== 'hyphenated' || (link === 'sign' && kind === 'name');
}
