import { addressAt, hostsIn, MOST_HOSTS, NO_HOST } from './addresses.ts';
import { isBlank } from '../detectors/characters.ts';

/** An address that a place in a text is part of. */
export interface AddressAround {
  /** Hosts that were named so far, those of the part that is not kept among them. */
  readonly hosts: ReadonlySet<string>;
  /** The address up to here, or its end where it is long. */
  readonly text: string;
  /** No path, query or fragment has begun: what follows may still be the host. */
  readonly inHost: boolean;
}

/** A text that is one value from end to end: an argument of a tool, a string of JSON. */
export const VALUE = '^';

/** Most characters of one word, or of one address, that are kept. */
const KEPT = 2048;
/** An address that begins where the kept part was cut is found in what is left. */
const OVERLAP = 256;
/** What was looked through is looked through again this far from its end: a scheme may begin there. */
const LOOKED_AGAIN = 64;
/** A word without an address ends at any of these. */
const BREAK = /[\s"'`<>()[\]{},]/g;
/** No address begins in a word without one of these, and nothing is `<base`. */
const SIGN = /[:/\\?#&%<]|(?<=www)\./gi;
const NOTHING: ReadonlySet<string> = new Set();

/**
 * Follows a text that comes in pieces and knows at every place whether that is part of an address: to readers of plain
 * text, Markdown, HTML and CSS alike. Linear, and bounded in what it keeps.
 */
export class AddressTracker {
  /** The word, or the address, that is being read. */
  #run = '';
  /** What stands before it: a sign, `](`, `url(`, a blank, or `VALUE`. */
  #before: string;
  #bracket = false;
  /** Where the address begins in the run; -1: none has begun. */
  #start = -1;
  /** So much of the run has been looked through: no address begins there. */
  #clean = 0;
  /** What ends it, beside its kind's own end: nothing for a bare one. */
  #closer = '';
  #depth = 0;
  #earlier: ReadonlySet<string> = NOTHING;
  #cut = false;
  /** `<base` came: what every address is relative to. */
  #rebased = false;

  constructor(before = ' ') {
    this.#before = before;
  }

  /** Begins a new value. */
  reset(before: string): void {
    this.#end(before);
    this.#bracket = false;
  }

  feed(text: string): void {
    let sign = -1;
    for (let at = 0; at < text.length;) {
      if (this.#start >= 0) {
        at = this.#address(text, at);
        continue;
      }
      if (this.#run === '' && this.#before === ' ' && sign < at) {
        sign = next(SIGN, text, at);
        at = this.#skip(text, at, sign);
      }
      at = this.#word(text, at);
    }
  }

  /** Passes over words in which no address can begin, up to the last one before `to`; returns where to go on. */
  #skip(text: string, from: number, to: number): number {
    for (let at = to - 1; at > from; at--) {
      if (!isBlank(text.charCodeAt(at)) || isBreak(text.charCodeAt(at - 1))) continue;
      this.#end(' ');
      return at + 1;
    }
    return from;
  }

  /** The address around the place that was reached; undefined outside of any. */
  around(): AddressAround | undefined {
    if (this.#rebased) return { hosts: new Set([NO_HOST]), text: this.#run, inHost: false };
    this.#look();
    if (this.#start < 0) return undefined;
    const text = this.#run.slice(this.#start);
    const inHost = !this.#cut && /^(?:[a-z][a-z0-9+.-]*:)?[/\\]*[^/\\?#]*$/i.test(text);
    return { hosts: this.#earlier, text, inHost };
  }

  /** Reads on in a word; returns where to go on. */
  #word(text: string, from: number): number {
    const at = next(BREAK, text, from);
    this.#add(text.slice(from, at));
    if (at === text.length) return at;
    const sign = text[at]!;
    this.#look();
    // A sign in the middle of an address is read again, as part of it.
    if (this.#start >= 0) return at;
    if (/\s/.test(sign)) {
      if (this.#before === '<' && this.#run.toLowerCase() === 'base') this.#rebased = true;
      // Blanks behind a quote or a bracket are no part of what begins there.
      if (this.#run !== '') this.#end(' ');
    } else {
      let before = sign;
      if (sign === '(') before = this.#bracket && this.#run === '' ? '](' : /url$/i.test(this.#run) ? 'url(' : '(';
      if (this.#run.endsWith('\\')) before = `\\${before}`;
      this.#end(before);
      this.#bracket = sign === ']';
    }
    return at + 1;
  }

  /** Reads on in an address, up to its end; returns where to go on. */
  #address(text: string, from: number): number {
    let at = from;
    for (; at < text.length; at++) {
      const sign = text[at]!;
      if (this.#closer === VALUE) continue;
      if (this.#closer === '') {
        if (sign === '<' || /[\t\n\f\r ]/.test(sign) || (sign === '>' && this.#before === '=')) break;
      } else if (this.#closer === ')' && sign === '(') this.#depth++;
      else if (sign === this.#closer && !this.#escaped(text, from, at)) {
        if (this.#depth === 0) break;
        this.#depth--;
      }
    }
    this.#add(text.slice(from, at));
    if (at === text.length) return at;
    this.#end(text[at]!);
    return at + 1;
  }

  /** Whether a sign is escaped, where the one that it closes was not. */
  #escaped(text: string, from: number, at: number): boolean {
    if (this.#before.startsWith('\\')) return false;
    return (at > from ? text[at - 1] : this.#run.at(-1)) === '\\';
  }

  #add(piece: string): void {
    for (let at = 0; at < piece.length; at += KEPT) {
      this.#run += piece.slice(at, at + KEPT);
      if (this.#run.length > KEPT) this.#trim();
    }
  }

  #trim(): void {
    this.#look();
    if (this.#start >= 0) {
      // Of an address that nobody can tell the host of, nothing more needs to be known.
      if (!this.#earlier.has(NO_HOST)) {
        const hosts = hostsIn(this.#run.slice(this.#start));
        this.#earlier = new Set([...this.#earlier, ...hosts, ...(this.#earlier.size > MOST_HOSTS ? [NO_HOST] : [])]);
      }
      this.#cut = true;
      this.#start = 0;
    }
    this.#run = this.#run.slice(-OVERLAP);
    this.#clean = this.#run.length;
  }

  /** Looks for the beginning of an address in the word that is being read. */
  #look(): void {
    if (this.#start >= 0 || this.#run === '') return;
    const opener = this.#before;
    const from = Math.max(0, this.#clean - LOOKED_AGAIN);
    const before = from > 0 ? this.#run[from - 1] : opener === VALUE || opener.length > 1 ? '"' : opener;
    const found = addressAt(this.#run.slice(from), before);
    this.#clean = this.#run.length;
    if (found < 0) return;
    const at = from + found;
    this.#start = at;
    this.#closer = at === 0 ? (CLOSERS[opener.replace(/^\\/, '')] ?? '') : '';
    this.#depth = 0;
    if (this.#run[at - 1] === '=') this.#before = '=';
  }

  #end(before: string): void {
    this.#run = '';
    this.#clean = 0;
    this.#start = -1;
    this.#closer = '';
    this.#earlier = NOTHING;
    this.#cut = false;
    this.#before = before;
    this.#bracket = false;
  }
}

/** Whether a text may hold an address: never wrong in saying no. */
export function mayHoldAddress(text: string): boolean {
  return next(SIGN, text, 0) < text.length;
}

/** Where a sign stands next, or the end. */
function next(sign: RegExp, text: string, from: number): number {
  sign.lastIndex = from;
  return sign.test(text) ? sign.lastIndex - 1 : text.length;
}

/** Whether a character may end a word: never wrong in saying no. */
function isBreak(code: number): boolean {
  return code > 127 || BREAKS[code] === 1;
}

const BREAKS = Uint8Array.from({ length: 128 }, (_, code) => Number(next(BREAK, String.fromCharCode(code), 0) === 0));

const CLOSERS: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '<': '>',
  '](': ')',
  'url(': ')',
  [VALUE]: VALUE,
};
