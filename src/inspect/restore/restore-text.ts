import { AddressTracker, mayHoldAddress, VALUE } from './address-tracker.ts';
import { JsonFollower } from './json-follower.ts';
import type { Restoration } from './restoration.ts';

/** `json`: the text is JSON source, so a tag may be written with escapes and what replaces it must be escaped. */
export type TextKind = 'text' | 'json';

/** What is known of a text beside what it says. */
export interface TextContext {
  /** It stands in JSON source as it is: what replaces a tag must be escaped, though no tag is written with escapes. */
  readonly inSource?: boolean;
  /** It is a value from end to end, so that an address at its beginning goes on to its end. */
  readonly isValue?: boolean;
  /** It is JSON text, though its tags are not written with escapes. */
  readonly isJson?: boolean;
  /** The tool that is told it. */
  readonly tool?: string;
  /** Whether a tag may be restored, wherever it stands. */
  readonly permits?: (tag: string) => boolean;
  /** Told of every tag: whether it is restored. Nothing is, then. */
  readonly onTag?: (restored: boolean) => void;
  /** Whether the next tag is restored, as `onTag` has told. */
  readonly decided?: Iterator<boolean>;
}

/** Puts originals back for tags in a whole text. Throws `AnswerOutOfBounds`. */
export function restoreText(text: string, restoration: Restoration, kind: TextKind, context?: TextContext): string {
  if (!text.includes('«') && (kind === 'text' || !text.includes('\\'))) return text;
  const restorer = new TextRestorer(restoration, kind, context, mayHoldAddress(text));
  return restorer.push(text) + restorer.flush();
}

/** Follows a text that has no address. */
const NO_ADDRESSES: Pick<AddressTracker, 'feed' | 'around'> = { feed: () => {}, around: () => undefined };

/** Most characters behind a tag that say where it goes. */
const TAIL = 256;
const TAIL_CHARACTERS = /[^\s"<>]{0,256}/y;
const CLOSING_SIGNS = /(?<![)\].,;:'`*!])[)\].,;:'`*!]+$/;

type Match = { readonly end: number; readonly tag?: string; readonly original?: string };

/**
 * Puts originals back in a text that comes in pieces. Holds back no more than what may be the beginning of a tag, and in
 * an address whose host is not told yet, what follows the tag up to the host's end. A tag that may not be restored where
 * it stands passes as it is.
 */
export class TextRestorer {
  readonly #restoration: Restoration;
  readonly #kind: TextKind;
  readonly #context: TextContext;
  readonly #tracker: Pick<AddressTracker, 'feed' | 'around'>;
  #held = '';

  /** `addresses`: false where the text is known to have none. */
  constructor(restoration: Restoration, kind: TextKind, context: TextContext = {}, addresses = true) {
    this.#restoration = restoration;
    this.#kind = kind;
    this.#context = context;
    if (!addresses) {
      this.#tracker = NO_ADDRESSES;
      return;
    }
    const tracker = new AddressTracker(context.isValue ? VALUE : ' ');
    this.#tracker = kind === 'json' || context.isJson ? new JsonFollower(tracker) : tracker;
  }

  get holding(): boolean {
    return this.#held !== '';
  }

  /** What can be passed on now. Throws `AnswerOutOfBounds`. */
  push(piece: string): string {
    return this.#pass(this.#held + piece, false);
  }

  /** What was held back, when nothing more will come. */
  flush(): string {
    return this.#held === '' ? '' : this.#pass(this.#held, true);
  }

  /** Takes note of a piece that has no tag in it and was passed on, while nothing is held back. */
  follow(piece: string): void {
    this.#tracker.feed(piece);
  }

  #pass(text: string, isLast: boolean): string {
    let passed = '';
    let from = 0;
    for (let at = this.#nextOpening(text, 0); at >= 0;) {
      const match = this.#match(text, at);
      const restored = match === 'partial' ? match : this.#decide(text, from, at, match, isLast);
      if (restored === 'partial' && !isLast) {
        // Deciding has followed the text up to here already, unless nothing was to be decided.
        if (match === 'partial') this.#tracker.feed(text.slice(from, at));
        this.#held = text.slice(at);
        return passed + text.slice(from, at);
      }
      const end = match === 'partial' ? at + 1 : match.end;
      if (match !== 'partial' && match.original !== undefined) {
        passed += text.slice(from, at) + (restored === true ? this.#write(match, at) : text.slice(at, end));
        this.#tracker.feed(match.tag!);
        from = end;
      }
      at = this.#nextOpening(text, end);
    }
    this.#held = '';
    this.#tracker.feed(text.slice(from));
    return passed + text.slice(from);
  }

  /** Whether a tag is restored where it stands. */
  #decide(text: string, from: number, at: number, match: Match, isLast: boolean): boolean | 'partial' {
    const { tag, original } = match;
    if (tag === undefined || original === undefined) return false;
    const { decided, permits, onTag, tool } = this.#context;
    if (decided) return decided.next().value === true;
    this.#tracker.feed(text.slice(from, at));
    if (!this.#restoration.takeTag()) {
      onTag?.(false);
      return false;
    }
    const around = this.#tracker.around();
    let tail = '';
    if (around?.inHost || tool !== undefined) {
      tail = tailAt(text, match.end);
      if (!isLast && match.end + tail.length === text.length && tail.length < TAIL) return 'partial';
      tail = this.#read(tail);
    }
    const restored = this.#restoration.allows(original, { around, tail, tool }, permits?.(tag) ?? true);
    onTag?.(restored);
    return restored;
  }

  #read(tail: string): string {
    const said = this.#kind === 'json' ? unescaped(tail) : tail;
    // A sign at the end is the sentence's, unless what it ends may be said of somebody before an `@`.
    return said.includes('@') ? said : said.replace(CLOSING_SIGNS, '');
  }

  /** Offset of the next `«`, or in JSON source of the next escape sequence (which may spell one). */
  #nextOpening(text: string, from: number): number {
    const quote = text.indexOf('«', from);
    if (this.#kind === 'text') return quote;
    const escape = text.indexOf('\\', from);
    return quote < 0 || (escape >= 0 && escape < quote) ? escape : quote;
  }

  #match(text: string, at: number): 'partial' | Match {
    const { tags } = this.#restoration;
    const opening = this.#kind === 'json' ? guillemet(text, at, 'ab') : literal(text, at, '«');
    if (opening === 'partial') return 'partial';
    if (opening.is === false) return { end: opening.end };
    let end = opening.end;
    while (end < text.length && isTagCharacter(text.charCodeAt(end))) end++;
    const name = `«${text.slice(opening.end, end)}`;
    if (end === text.length) return tags.isPrefix(name) ? 'partial' : { end: opening.end };
    const closing = this.#kind === 'json' ? guillemet(text, end, 'bb') : literal(text, end, '»');
    if (closing === 'partial') return tags.isPrefix(name) ? 'partial' : { end: opening.end };
    const tag = `${name}»`;
    const original = closing.is ? tags.originalOf(tag) : undefined;
    return original === undefined ? { end: opening.end } : { end: closing.end, tag, original };
  }

  #write({ tag, end, original }: Match, at: number): string {
    if (this.#context.onTag) return tag!;
    const escaped = this.#kind === 'json' || this.#context.inSource;
    const written = escaped ? JSON.stringify(original!).slice(1, -1) : original!;
    this.#restoration.growth.add(end - at, written.length);
    return written;
  }
}

function tailAt(text: string, at: number): string {
  TAIL_CHARACTERS.lastIndex = at;
  return TAIL_CHARACTERS.exec(text)![0];
}

/** What a stretch of JSON source says; what is no source says itself. */
function unescaped(source: string): string {
  if (!source.includes('\\')) return source;
  try {
    return String(JSON.parse(`"${source}"`));
  } catch {
    return source;
  }
}

function literal(text: string, at: number, character: string): { is: boolean; end: number } {
  return { is: text[at] === character, end: at + 1 };
}

/**
 * Reads one unit of JSON string source at `at`: a plain character or a whole escape sequence, so that `\\u00ab`
 * (an escaped backslash, then letters) is never taken for a guillemet.
 */
function guillemet(text: string, at: number, hex: 'ab' | 'bb'): 'partial' | { is: boolean; end: number } {
  if (text[at] !== '\\') return { is: text[at] === (hex === 'ab' ? '«' : '»'), end: at + 1 };
  if (at + 1 === text.length) return 'partial';
  if (text[at + 1] !== 'u') return { is: false, end: at + 2 };
  const sequence = text.slice(at, at + 6).toLowerCase();
  const wanted = `\\u00${hex}`;
  if (sequence === wanted) return { is: true, end: at + 6 };
  if (sequence.length < 6 && wanted.startsWith(sequence)) return 'partial';
  return { is: false, end: at + 2 };
}

function isTagCharacter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;
}
