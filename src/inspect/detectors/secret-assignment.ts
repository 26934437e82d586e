import { isCapital, isLetter } from './characters.ts';
import type { Stretch } from './secret-shapes.ts';
import { isPassword, isPasswordInProse, isStrongToken } from './secret-value.ts';

type Kind = 'password' | 'secret' | 'token';

/** Names of fields that hold credentials, as the end of a longer name too; written without `_`, `-` and blanks. */
const NAMES: readonly (readonly [string, Kind])[] = [
  ['password', 'password'],
  ['passwd', 'password'],
  ['pwd', 'password'],
  ['passphrase', 'password'],
  ['passcode', 'password'],
  ['pass', 'password'],
  ['passwort', 'password'],
  ['kennwort', 'password'],
  ['motdepasse', 'password'],
  ['mdp', 'password'],
  ['contraseña', 'password'],
  ['contrasena', 'password'],
  ['senha', 'password'],
  ['hasło', 'password'],
  ['haslo', 'password'],
  ['wachtwoord', 'password'],
  ['parola', 'password'],
  ['heslo', 'password'],
  ['lösenord', 'password'],
  ['salasana', 'password'],
  ['adgangskode', 'password'],
  ['secret', 'secret'],
  ['secretkey', 'secret'],
  ['clientsecret', 'secret'],
  ['token', 'token'],
  ['apikey', 'token'],
  ['accesskey', 'token'],
  ['privatekey', 'token'],
  ['accountkey', 'token'],
  ['sharedkey', 'token'],
  ['authkey', 'token'],
  ['signingkey', 'token'],
  ['encryptionkey', 'token'],
  ['masterkey', 'token'],
  ['credential', 'token'],
  ['credentials', 'token'],
  ['bearer', 'token'],
];

/** The names by the code of their last letter, all of them ASCII; longest first. */
const BY_LAST: (readonly (readonly [string, Kind])[] | undefined)[] = Array.from({ length: 128 });
for (const named of NAMES.toSorted((a, b) => b[0].length - a[0].length)) {
  const last = named[0].charCodeAt(named[0].length - 1);
  BY_LAST[last] = [...(BY_LAST[last] ?? []), named];
}

/** How much of a value is judged; a strong value is then covered to its end. */
const JUDGED = 64;

/** The value assigned at the `=` or `:` at `at`, when the name before it and the value's make-up say credential. */
export function assigned(text: string, at: number): Stretch | undefined {
  const named = nameBefore(text, at);
  if (named === undefined) return undefined;
  const value = valueAfter(text, at + 1);
  if (value === undefined) return undefined;
  const content = text.slice(value.start, value.end);
  // `X509Token = readX509Token` is code: a name and no value.
  const [name, kind] = named;
  if (content.toLowerCase().endsWith(name)) return undefined;
  return isCredential(content, kind) ? { start: value.start, end: wholeEnd(text, value) } : undefined;
}

function isCredential(value: string, kind: Kind): boolean {
  if (kind === 'password') return isPassword(value);
  if (isStrongToken(value)) return true;
  return kind === 'secret' && isPasswordInProse(value) && /[A-Z]/.test(value) && /\d/.test(value);
}

const CLOSING = new Uint8Array(128);
for (const sign of ' "\'`])\\:') CLOSING[sign.charCodeAt(0)] = 1;

/** The name that ends before `at`, and what it holds; quotes, brackets and blanks may stand between. */
function nameBefore(text: string, at: number): readonly [string, Kind] | undefined {
  let end = at;
  while (at - end < 5 && CLOSING[text.charCodeAt(end - 1)] === 1) end -= 1;
  const last = text.charCodeAt(end - 1);
  const names = BY_LAST[last | 32];
  if (names === undefined) return undefined;
  for (const named of names) if (endsWithName(text, end, named[0])) return named;
  return undefined;
}

/** Whether the text before `end` is the name, in any case and with `_`, `-` or a blank between its parts. */
function endsWithName(text: string, end: number, name: string): boolean {
  let at = end - 1;
  for (let index = name.length - 1; index >= 0; index -= 1, at -= 1) {
    const code = text.charCodeAt(at);
    if (index < name.length - 1 && (code === 95 || code === 45 || code === 32)) at -= 1;
    const own = text.charCodeAt(at);
    if (own !== name.charCodeAt(index) && (!isLetter(own) || (own | 32) !== name.charCodeAt(index))) return false;
  }
  // A short name must be a part of its own: DB_PASS, not compass; userPwd is fine.
  const isJoined = isLetter(text.charCodeAt(at)) && !isCapital(text.charCodeAt(at + 1));
  return name.length > 4 || !isJoined;
}

/** The value from `from` on: in its quotes, or up to a blank or a sign that ends a value. */
function valueAfter(text: string, from: number): Stretch | undefined {
  LEAD.lastIndex = from;
  LEAD.test(text);
  const start = LEAD.lastIndex;
  const end = valueEnd(text, start);
  return end > start ? { start, end } : undefined;
}

/** What may stand between a sign of assignment and the value. */
const LEAD = /[ =>\t]{0,6}\\?["'`]?/y;
const UNQUOTED = new RegExp(`[^ \\t\\r\\n,;"'\`<>)}\\]|&\\\\]{0,${JUDGED}}`, 'y');
/** By the code of the quote: up to the next such quote, a line break or an escape. */
const QUOTED: ReadonlyMap<number, RegExp> = new Map(
  ['"', "'", '`'].map((quote) => [quote.charCodeAt(0), new RegExp(`[^${quote}\\r\\n\\\\]{0,${JUDGED}}`, 'y')]),
);

function valueEnd(text: string, start: number): number {
  const quoted = QUOTED.get(text.charCodeAt(start - 1));
  const pattern = quoted ?? UNQUOTED;
  pattern.lastIndex = start;
  pattern.test(text);
  let end = pattern.lastIndex;
  if (quoted === undefined) while (end > start && '.:?'.includes(text[end - 1] as string)) end -= 1;
  return end;
}

/** Where a value that was cut off for judging really ends. */
function wholeEnd(text: string, value: Stretch): number {
  const pattern = QUOTED.get(text.charCodeAt(value.start - 1)) ?? UNQUOTED;
  let end = value.end;
  for (let length = end - value.start; length === JUDGED;) {
    pattern.lastIndex = end;
    pattern.test(text);
    length = pattern.lastIndex - end;
    end += length;
  }
  return end;
}

const WORD = /pass?(?:word|wort|wd)s?|wachtwoord|kennwort/iy;
const LINK =
  /["'`)]{0,2}[ \t]{1,2}(?:(?:for|für|pour|para|per|voor|dla) \S{1,32}[ \t])?(?:(?:is|was|ist|war|lautet|to)[ :]{1,2})?["'`]?/iy;

/**
 * A password in running text, `… with password hT7!kd…`, whose word has its `w` at `at`. A sign of assignment behind the
 * word is left to `assigned`.
 */
export function spoken(text: string, at: number, floor: number): Stretch | undefined {
  const start = wordStart(text, at);
  if (start < floor) return undefined;
  WORD.lastIndex = start;
  if (!WORD.test(text)) return undefined;
  LINK.lastIndex = WORD.lastIndex;
  if (!LINK.test(text)) return undefined;
  const from = LINK.lastIndex;
  const end = valueEnd(text, from);
  return isPasswordInProse(text.slice(from, end)) ? { start: from, end } : undefined;
}

function wordStart(text: string, at: number): number {
  const before = text.charCodeAt(at - 1) | 32;
  if (before === 115) return at - 4;
  if (before === 110) return at - 4;
  return before === 116 ? at - 5 : -1;
}
