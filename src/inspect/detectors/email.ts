import type { Match } from '../match.ts';
import {
  isAlphanumeric,
  isDigit,
  isEscapeLetter,
  isHex,
  isLetter,
  isUnspaced,
  isWideLetter,
  widthBefore,
} from './characters.ts';
import type { Detector } from './detector.ts';

/** Longer local parts and logins are cut off here; the part up to this length is a match. */
const LOCAL_MAX = 254;
const LOGIN_MAX = 256;

/** Domains that look right but are not: densities of image files, and versions of packages. */
const NOT_A_DOMAIN = /^(?:\d+x\.|v?\d+\.\d+\.)/;
/** Endings that a method call is not mistaken for: `q@k.transpose(…)` multiplies matrices. */
const COMMON_ENDING = /\.(?:com|org|net|edu|gov|info|[a-z]{2})$/i;
/** An ending with a word or a number behind it. */
const JOINED_ENDING = /^(?:(?:com|org|net|edu|gov|info)(?=[-\d])|[a-z]{2}(?=-))/i;
/** Domains of documentation (RFC 2606) and mailboxes of no one there: `support@example.com`. */
const RESERVED = /^(?:[\w-]+\.)?example\.(?:com|net|org)$/i;
const ROLE = /^(?:support|info|help|noreply|no-reply|contact|sales|admin|webmaster|postmaster|hostmaster|abuse)$/i;
/** Mailboxes without a person, on any host: tools sign with them. */
const NOBODY = /^(?:no|do[-_.]?not)[-_.]?reply$/i;
/** A quoted local part, not the text between two quoted texts. */
const QUOTED_LOCAL = /^"[^\s",:;)](?:[^"]*[^\s",:;(])?"$/;
const SENTENCE = /^\p{Lu}\p{Ll}/u;
const LOWER = /^[a-z]+$/;
/** The last label of a domain. */
const TOP_LEVEL = /^(?:xn--|[^\d-]{2,24}$)/;

/**
 * E-mail addresses around `@` (RFC 5321 and 6531: dots, plus tags, quoted local parts, letters of any script).
 * The domain needs a dot and a last label of letters, so that `@mention`, `@scope/pkg`, `pkg@1.2.3` and
 * `user@localhost` do not match. Trailing punctuation stays outside. The login part of a URL belongs to `secret.ts`.
 */
export const email: Detector = {
  category: 'EMAIL',
  evidence: 'shaped',
  meaning: 'E-mail addresses, with letters of any script.',
  examples: ['Write to ‹ada.lovelace@example.com›.'],
  ignores: ['npm i lodash@4.17.21 @types/node', 'git clone git@github.com:org/repo.git'],
  triggers: '@',
  detect(text, at, floor, found): number {
    const start = localStart(text, at, floor);
    if (start === at) return floor;
    const end = domainEnd(text, at + 1);
    if (end === at + 1 || isMisleading(text, start, at, end)) return floor;
    found.push({ start, end, category: 'EMAIL' } satisfies Match);
    return end;
  },
};

/** Whether a well-formed `local@domain` is something else in practice. */
function isMisleading(text: string, start: number, at: number, end: number): boolean {
  const domain = text.slice(at + 1, end);
  if (NOT_A_DOMAIN.test(domain) || isUrlLogin(text, at)) return true;
  const local = text.slice(start, at);
  if (NOBODY.test(local) || (RESERVED.test(domain) && ROLE.test(local))) return true;
  const next = text[end];
  if (next === '(') return !COMMON_ENDING.test(domain);
  return (next === ':' || next === '/') && local === 'git';
}

/** Whether `@` ends the login part of a URL, `scheme://user:password@host`, and not an address in its query. */
function isUrlLogin(text: string, at: number): boolean {
  const limit = Math.max(0, at - LOGIN_MAX);
  let hasEquals = false;
  for (let index = at - 1; index >= limit; index -= 1) {
    const code = text.charCodeAt(index);
    if (code === 47) return text.charCodeAt(index - 1) === 47 && text.charCodeAt(index - 2) === 58;
    if (code <= 32 || code === 34 || code === 39 || code === 60 || code === 62) return false;
    if (code === 63 && hasEquals) return false;
    hasEquals ||= code === 61;
  }
  return false;
}

/** Where the local part before `at` starts; `at` without one. */
function localStart(text: string, at: number, floor: number): number {
  if (text.charCodeAt(at - 1) === 34) return quotedStart(text, at, floor);
  let start = at;
  let unspaced: boolean | undefined;
  while (start > floor && at - start < LOCAL_MAX) {
    const kind = localKind(text, start - 1);
    if (kind === 'none') break;
    const code = text.charCodeAt(start - 1);
    if (kind === 'letter') {
      const own = code > 127 && isUnspaced(text, start - 1);
      if (unspaced !== undefined && unspaced !== own) break;
      unspaced = own;
    }
    start -= code > 127 ? widthBefore(text, start) : 1;
    if (text.charCodeAt(start - 1) === 61) start = beforeEquals(text, start, floor);
  }
  return tidyStart(text, Math.max(start, floor), at);
}

/** A forwarder writes the first address into the local part: `bounce+jane=example.com@list.example`. */
function beforeEquals(text: string, start: number, floor: number): number {
  let from = start - 1;
  let hasPlus = false;
  while (from > floor && start - from < 65 && localKind(text, from - 1) !== 'none') {
    from -= 1;
    hasPlus ||= text.charCodeAt(from) === 43;
  }
  return hasPlus ? from : start;
}

/** What the code unit is to a local part. The end of a percent escape (`%20jane@…`) is no part of it. */
function localKind(text: string, index: number): 'none' | 'letter' | 'other' {
  const code = text.charCodeAt(index);
  if (isAlphanumeric(code)) {
    if (text.charCodeAt(index - 2) === 37 && isHex(code) && isHex(text.charCodeAt(index - 1))) return 'none';
    return isDigit(code) ? 'other' : 'letter';
  }
  if (code === 46 || code === 95 || code === 45 || code === 43 || code === 37) return 'other';
  if (code === 39)
    return isLetter(text.charCodeAt(index - 1)) && isLetter(text.charCodeAt(index + 1)) ? 'other' : 'none';
  return code > 127 && isWideLetter(text, index) ? 'letter' : 'none';
}

/** Drops what cannot lead an address: dots, hyphens, plus signs, quotes, the letter of an escape such as `\n`. */
function tidyStart(text: string, from: number, at: number): number {
  let start = isEscapeLetter(text, from) ? from + 1 : from;
  while (start < at) {
    const code = text.charCodeAt(start);
    if (isAlphanumeric(code) || code === 95 || code > 127) break;
    start += 1;
  }
  return start;
}

function quotedStart(text: string, at: number, floor: number): number {
  const limit = Math.max(floor, at - 66);
  for (let index = at - 2; index >= limit; index -= 1) {
    const code = text.charCodeAt(index);
    if (code === 34) return QUOTED_LOCAL.test(text.slice(index, at)) && text.charCodeAt(index - 1) !== 92 ? index : at;
    if (code < 32) return at;
  }
  return at;
}

/** Where the domain that starts at `from` ends; `from` if it is not a domain. */
function domainEnd(text: string, from: number): number {
  let accepted = from;
  let previous = '';
  let start = from;
  for (let end = labelEnd(text, start); end > start; end = labelEnd(text, start)) {
    const label = text.slice(start, end);
    // `…@example.com.Please answer`: a sentence whose space was left out.
    if (accepted > from && SENTENCE.test(label) && LOWER.test(previous)) break;
    if (start > from) accepted = TOP_LEVEL.test(label) ? end : (joinedEnd(label, start) ?? accepted);
    if (text.charCodeAt(end) !== 46) break;
    previous = label;
    start = end + 1;
  }
  return accepted;
}

/** Where an ending stops before text joined to it: `…@example.com-2024`. */
function joinedEnd(label: string, start: number): number | undefined {
  const [ending] = JOINED_ENDING.exec(label) ?? [];
  return ending === undefined ? undefined : start + ending.length;
}

/** The end of the label that starts at `from`: letters, digits and inner hyphens, of one kind of script. */
function labelEnd(text: string, from: number): number {
  let end = from;
  let last = from;
  let unspaced: boolean | undefined;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    if (code === 45 && end > from) {
      end += 1;
      continue;
    }
    if (isDigit(code)) end += 1;
    else if (isLetter(code) || (code > 127 && isWideLetter(text, end))) {
      const own = code > 127 && isUnspaced(text, end);
      if (unspaced !== undefined && unspaced !== own) break;
      unspaced = own;
      end += code >= 0xd800 && code <= 0xdbff ? 2 : 1;
    } else break;
    last = end;
  }
  return last;
}
