import { breakAt, readTokens, type Token, tokenEnd, tokenStart } from './login-tokens.ts';
import { isAlphanumeric } from './characters.ts';
import type { Known } from './login-features.ts';
import { isNobodysLogin } from './login-value.ts';

/** How far before a login or password a word that announces it may stand, and how far behind it. */
const BEFORE = 80;
const BEHIND = 56;
/** As many words around one are read: a few more than its features are of, as signs alone do not count. */
const WORDS_BEFORE = 9;
const WORDS_BEHIND = 6;

/** The words around the one from `start` to `end`, which is at `index`; negative where only signs are left of it. */
export function tokensAround(
  text: string,
  start: number,
  end: number,
): { readonly tokens: readonly Token[]; readonly index: number } {
  const tokens: Token[] = [];
  readTokens(text, wordsBefore(text, start), wordsBehind(text, end), tokens);
  return { tokens, index: tokens.findIndex((token) => token.start >= start && token.end <= end) };
}

function wordsBefore(text: string, start: number): number {
  const least = Math.max(0, start - BEFORE);
  let from = start;
  for (let words = 0; words < WORDS_BEFORE && from > least; words += 1) {
    while (from > least && breakAt(text, from - 1) !== 0) from -= 1;
    // A word that begins farther off is read from its beginning on.
    from = tokenStart(text, from, Math.max(0, least - STEM));
  }
  return from;
}

function wordsBehind(text: string, end: number): number {
  const most = Math.min(text.length, end + BEHIND);
  let to = end;
  for (let words = 0; words < WORDS_BEHIND && to < most; words += 1) {
    while (to < most && breakAt(text, to) !== 0) to += 1;
    to = tokenEnd(text, to, most);
  }
  return to;
}

/** A word that announces something may begin so much farther off. */
const STEM = 16;

const MARKED = /[\d!#$%&_@+^~?]|\p{L}[.-]\p{L}|\p{Ll}\p{Lu}/u;
const LETTERS = /^\p{Ll}{3,24}$/u;
/** An assignment, or the end of an element of HTML. */
const CODE_GOES_ON = /^(?: =|<\/)/;
const BRACKET = 40;
const SCHEME = /^(?:https?|www|mailto)$/;
const QUOTES = '"\'`“„«‹‘:';

/** Whether the word at `index` may be a login or password at all. */
export function isCandidate(text: string, tokens: readonly Token[], index: number, known: Known): boolean {
  const token = tokens[index] as Token;
  const { start, end, lower, cue } = token;
  const length = end - start;
  if (length < 3 || length > 40 || cue !== undefined) return false;
  const value = text.slice(start, end);
  if (value.startsWith('.') || value.startsWith('-')) return false;
  if (!MARKED.test(value)) {
    if (!LETTERS.test(value) && !QUOTES.includes(token.before)) return false;
    if ((known(lower) || isCompound(lower, known)) && !QUOTES.includes(token.before)) return false;
    if (isNobodysLogin(lower)) return false;
  }
  // Other detectors find addresses, paths, calls and assigned values.
  const { before, after } = token;
  if (after === '(' || after === '=' || after === '/' || after === '\\' || before === '/' || before === '\\')
    return false;
  if (before === '(' && isAlphanumeric(text.charCodeAt(start - 2)) && text.charCodeAt(start - 1) === BRACKET)
    return false;
  if (CODE_GOES_ON.test(text.slice(end, end + 2)) || SCHEME.test(lower) || isField(text, start, end)) return false;
  const sign = value.indexOf('@');
  return sign <= 0 || (!value.includes('.', sign) && /[\d!#$%]/.test(value));
}

/** Whether a name or value of JSON, or of a literal of code, stands in these quotes: other detectors read fields. */
function isField(text: string, start: number, end: number): boolean {
  const quote = text[start - 1];
  if ((quote !== '"' && quote !== "'") || text[end] !== quote) return false;
  const next = text[end + 1] ?? '\n';
  if (next === ':' || next === '"') return true;
  const before = text[start - 2] === ' ' ? text[start - 3] : text[start - 2];
  return before === '=' || (',:[{('.includes(before ?? '\n') && ',]})\n'.includes(next));
}

/** Whether a word of the same line, near the one at `index`, announces something. */
export function isNearCue(tokens: readonly Token[], index: number): boolean {
  const { start, end } = tokens[index] as Token;
  for (let at = index - 1; at >= 0; at -= 1) {
    const other = tokens[at] as Token;
    if ((tokens[at + 1] as Token).before === '\n' || start - other.start > BEFORE) break;
    if (other.cue !== undefined) return true;
  }
  for (let at = index + 1; at < tokens.length; at += 1) {
    const other = tokens[at] as Token;
    if (other.before === '\n' || other.start - end > BEHIND) break;
    if (other.cue !== undefined) return true;
  }
  return false;
}

const SHORTEST_PART = 4;

/** Whether a word is two known ones in one: `kleingeschrieben`. */
export function isCompound(word: string, known: Known): boolean {
  for (let at = SHORTEST_PART; at <= word.length - SHORTEST_PART - 1; at += 1)
    if (known(word.slice(at)) && known(word.slice(0, at))) return true;
  return false;
}
