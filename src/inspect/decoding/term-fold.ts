import { plainLetters } from '#/values/document-text.ts';
import { finish, type Steps } from '#/wire/document/steps.ts';

/** A text as terms are looked for in it, and where each of its code units came from. */
export interface FoldedText {
  readonly text: string;
  /** For each code unit of `text`, where its character starts in the original. */
  readonly starts: ArrayLike<number>;
  /** For each code unit of `text`, where its character ends in the original. */
  readonly ends: ArrayLike<number>;
}

const INVISIBLE = /^\p{Default_Ignorable_Code_Point}$/u;
const BLANK = /^\s$/u;
const SPACE = 0x20;
/** One pass without a way back: of a pattern of words with blanks between, the engine's stack is too small for 24 MiB. */
const NOT_PLAIN = /[^ -~]| {2}| $/;
/** Signs that keyboards and text processors put in the place of another. */
const SIGNS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Array.from('’‘ʼ´′＇', (sign) => [sign, "'"])),
  ...Object.fromEntries(Array.from('‐‑‒–−﹣', (sign) => [sign, '-'])),
};
/** Most text is of these: the code that each becomes, a blank where it is white space. */
const ASCII = Uint16Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return BLANK.test(character) ? SPACE : character.toLowerCase().charCodeAt(0);
});
const BROKEN_WORD = /\p{L}[-‐\u00ad][ \t]*(?:\r\n|\r|\n)[ \t>]*\p{L}/u;
const BREAK = /[-‐\u00ad][ \t]*(?:\r\n|\r|\n)[ \t>]*(?=\p{L})/uy;

/**
 * Folds what reads the same into one spelling: case, accents, `ß` and `ss`, full-width and other compatible forms, kinds of
 * dashes and apostrophes, any run of white space, characters nobody sees. `joined`: words that a hyphen breaks at the end
 * of a line are whole.
 */
export function foldForTerms(text: string, joined = false): FoldedText {
  return finish(foldInSteps(text, joined));
}

const UNITS_A_STEP = 128 * 1024;

/** The same in steps. */
export function* foldInSteps(text: string, joined = false): Steps<FoldedText> {
  if (!NOT_PLAIN.test(text))
    return { text: text.toLowerCase(), starts: positions(text.length), ends: positions(text.length, 1) };
  const units = new Units(text.length);
  for (let at = 0; at < text.length;) {
    if (at > 0) yield;
    at = foldStretch(text, at, Math.min(text.length, at + UNITS_A_STEP), joined, units);
  }
  return units.folded();
}

/** Folds characters that begin before `until`; answers where the next one begins. */
function foldStretch(text: string, from: number, until: number, joined: boolean, units: Units): number {
  let at = from;
  while (at < until) {
    const skipped = joined && at > 0 ? breakAt(text, at) : 0;
    const code = text.charCodeAt(at);
    if (skipped > 0) at += skipped;
    else if (code < 128) units.add(ASCII[code] ?? code, at, ++at);
    else {
      const character = String.fromCodePoint(text.codePointAt(at) ?? code);
      const end = at + character.length;
      const plain = plainOf(character);
      for (let unit = 0; unit < plain.length; unit++) units.add(plain.charCodeAt(unit), at, end);
      // An accent that stands alone belongs to the letter before it.
      if (plain === '' && isMark(code)) units.reach(end);
      at = end;
    }
  }
  return at;
}

/** Numbers, not a text that grows: asking that for its end would copy it each time. */
class Units {
  #units: Uint16Array<ArrayBuffer>;
  #starts: Uint32Array;
  #ends: Uint32Array;
  #length = 0;

  constructor(expected: number) {
    this.#units = new Uint16Array(expected);
    this.#starts = new Uint32Array(expected);
    this.#ends = new Uint32Array(expected);
  }

  add(unit: number, from: number, to: number): void {
    const last = this.#length - 1;
    if (unit === SPACE && this.#units[last] === SPACE) return void (this.#ends[last] = to);
    if (this.#length === this.#units.length) this.#grow();
    this.#units[this.#length] = unit;
    this.#starts[this.#length] = from;
    this.#ends[this.#length++] = to;
  }

  /** What was added last goes on up to there. */
  reach(end: number): void {
    if (this.#length > 0) this.#ends[this.#length - 1] = end;
  }

  folded(): FoldedText {
    const text = Buffer.from(this.#units.buffer, 0, this.#length * 2).toString('utf16le');
    return { text, starts: this.#starts.subarray(0, this.#length), ends: this.#ends.subarray(0, this.#length) };
  }

  /** A character may become several letters. */
  #grow(): void {
    const length = Math.ceil(this.#units.length * 1.5) + 16;
    const [units, starts, ends] = [new Uint16Array(length), new Uint32Array(length), new Uint32Array(length)];
    units.set(this.#units);
    starts.set(this.#starts);
    ends.set(this.#ends);
    [this.#units, this.#starts, this.#ends] = [units, starts, ends];
  }
}

/** Whether `joined` makes a difference: whether a word goes on in the next line. */
export function hasBrokenWord(text: string): boolean {
  return BROKEN_WORD.test(text);
}

/** What characters of one unit become, as far as they were met. */
const KNOWN = new Map<string, string>();

function plainOf(character: string): string {
  const known = KNOWN.get(character);
  if (known !== undefined) return known;
  const plain = INVISIBLE.test(character)
    ? ''
    : BLANK.test(character)
      ? ' '
      : (SIGNS[character] ?? plainLetters(character));
  if (character.length === 1) KNOWN.set(character, plain);
  return plain;
}

function isMark(code: number): boolean {
  return code >= 0x300 && code <= 0x36f;
}

/** How many characters the end of a line takes in a word that goes on in the next one. */
function breakAt(text: string, at: number): number {
  BREAK.lastIndex = at;
  return /\p{L}/u.test(text.charAt(at - 1)) ? (BREAK.exec(text)?.[0].length ?? 0) : 0;
}

/** As many numbers, counted from `first`. */
function positions(length: number, first = 0): ArrayLike<number> {
  const numbers = new Uint32Array(length);
  for (let at = 0; at < length; at++) numbers[at] = at + first;
  return numbers;
}

/** A spelling of a term, folded. */
export interface Spelling {
  readonly text: string;
  /** Letters that were written as two in the term: only where the text has an umlaut are they decodedViews. */
  readonly umlauts: readonly number[];
}

const UMLAUTS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe' };
const UMLAUT = /[äöüåø]/g;
const AS_TWO = /a[ae]|[ou]e/g;

/**
 * How a term is spelled: as it is (umlauts without their dots), then with umlauts written as two letters, and with its
 * `ae`, `oe` and `ue` as the umlauts that they may stand for. None where nothing is left of it.
 */
export function spellingsOf(term: string): readonly Spelling[] {
  const plain = foldForTerms(term).text;
  if (plain === '') return [];
  const spellings: Spelling[] = [{ text: plain, umlauts: [] }];
  const lower = term.normalize('NFC').toLowerCase();
  const written = foldForTerms(lower.replace(UMLAUT, (letter) => UMLAUTS[letter] ?? letter)).text;
  if (written !== plain) spellings.push({ text: written, umlauts: [] });
  const umlauts = Array.from(plain.matchAll(AS_TWO), ({ index }, before) => index - before);
  if (umlauts.length > 0) spellings.push({ text: plain.replace(AS_TWO, (two) => two.charAt(0)), umlauts });
  return spellings;
}

/** Whether a letter of a folded text was an umlaut before. */
export function isUmlaut(text: string, { starts, ends }: FoldedText, index: number): boolean {
  return /[äöüåø]/i.test(text.slice(starts[index], ends[index]).normalize('NFC'));
}
