import { DocumentFault } from '#/ports/documents.ts';
import type { Slot, SlottedUnit } from '../slots.ts';
import { tokensOf, type Token } from './tokens.ts';
import {
  ENDS,
  encodingOfCharset,
  encodingOfPage,
  KEPT_GROUPS,
  LETTERS,
  LOOKS,
  OPEN_GROUPS,
  UNSEEN_GROUPS,
} from './words.ts';

/** Parts to write again, in order: text, formatting words, and images. */
export type Piece =
  | { readonly kind: 'text'; readonly slot: Slot }
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'picture'; readonly mediaType: string; readonly hex: string; readonly size: string };

/** An RTF document, taken apart. */
export interface Rtf {
  readonly pieces: readonly Piece[];
  readonly units: readonly SlottedUnit[];
  readonly pictures: number;
}

interface Group {
  /** `pict`: digits of a picture. */
  readonly place: 'shown' | 'unseen' | 'fonts' | 'pict';
  /** Where text goes; a group of its own has its own. */
  readonly unit: { slots: Slot[] | undefined };
  hidden: boolean;
  skip: number;
  font: number;
  /** Nothing has stood in it yet: its first word says what it is. */
  fresh: boolean;
  /** Who does not know that word is to leave the group out. */
  starred: boolean;
  readonly picture: { type: string; hex: string[]; size: string } | undefined;
}

/** Groups in each other: real documents have a dozen. */
const MAX_DEPTH = 200;
const MAX_UNITS = 500_000;
const SIZES = new Set(['picw', 'pich', 'picwgoal', 'pichgoal', 'picscalex', 'picscaley']);
/** Digits of pictures and of embedded files say nothing. */
const DIGITS = /^[\da-f\s]*$/i;

/**
 * Reads RTF: its visible text, and hidden text. Throws `unreadable`, `too_large`, or `unsupported` for DOS encodings.
 */
export function parseRtf(bytes: Uint8Array, checkTime: () => void): Rtf {
  const reader = new Reader();
  for (const token of tokensOf(bytes, checkTime)) reader.take(token);
  return reader.end();
}

class Reader {
  readonly #pieces: Piece[] = [];
  readonly #units: SlottedUnit[] = [];
  readonly #stack: Group[] = [];
  readonly #fonts = new Map<number, string>();
  #encoding = 'windows-1252';
  #bytes: number[] = [];
  /** Fallback characters for the letter before, for old readers. */
  #stale = 0;
  #pictures = 0;
  #fontSaid = 0;

  take(token: Token): void {
    if (token.kind === 'byte') return this.#byte(token.byte);
    this.#flush();
    switch (token.kind) {
      case 'open':
        this.#stale = 0;
        return this.#open();
      case 'close':
        this.#stale = 0;
        return this.#close();
      case 'text': {
        // Blanks may stand around the whole.
        if (this.#stack.length === 0 && token.text.trim() === '') return;
        const text = token.text.slice(this.#stale);
        this.#stale = Math.max(0, this.#stale - token.text.length);
        return this.#say(text);
      }
      case 'word':
        return this.#word(token.name, token.value);
    }
  }

  end(): Rtf {
    this.#flush();
    if (this.#stack.length > 0 || this.#pieces.length === 0) throw broken();
    return { pieces: this.#pieces, units: this.#units, pictures: this.#pictures };
  }

  get #group(): Group {
    const group = this.#stack.at(-1);
    if (!group) throw broken();
    return group;
  }

  #open(): void {
    if (this.#stack.length >= MAX_DEPTH)
      throw new DocumentFault('too_large', 'groups of the document are nested too deeply');
    const outer = this.#stack.at(-1);
    this.#stack.push(
      outer
        ? { ...outer, fresh: true, starred: false }
        : {
            ...{ place: 'shown', unit: { slots: undefined }, hidden: false, skip: 1, font: 0 },
            ...{ fresh: true, starred: false, picture: undefined },
          },
    );
    if (this.#group.place === 'shown') this.#pieces.push({ kind: 'code', code: '{' });
  }

  #close(): void {
    const group = this.#stack.pop();
    if (!group) throw broken();
    if (group.picture && group.picture !== this.#stack.at(-1)?.picture) this.#picture(group.picture);
    if (group.place === 'shown') this.#pieces.push({ kind: 'code', code: '}' });
  }

  #picture({ type, hex, size }: NonNullable<Group['picture']>): void {
    this.#pictures++;
    if (type !== '') this.#pieces.push({ kind: 'picture', mediaType: type, hex: hex.join(''), size });
  }

  #byte(byte: number): void {
    if (this.#stale > 0) this.#stale--;
    else this.#bytes.push(byte);
  }

  #flush(): void {
    if (this.#bytes.length === 0) return;
    const { font, place } = this.#group;
    const encoding = (place === 'fonts' ? undefined : this.#fonts.get(font)) ?? this.#encoding;
    const text = new TextDecoder(encoding).decode(Uint8Array.from(this.#bytes));
    this.#bytes = [];
    this.#say(text);
  }

  #say(text: string): void {
    const group = this.#group;
    if (text === '') return;
    group.fresh = false;
    if (group.place === 'pict') return void group.picture?.hex.push(text);
    const hidden = group.hidden || group.place !== 'shown';
    if (hidden && DIGITS.test(text)) return;
    const slot = { text };
    if (!group.unit.slots) {
      group.unit.slots = [];
      this.#units.push({ slots: group.unit.slots, visibility: group.place === 'shown' ? 'shown' : 'hidden' });
      if (this.#units.length > MAX_UNITS) throw new DocumentFault('too_large', 'the document has too many paragraphs');
    }
    if (hidden && group.place === 'shown') this.#units.push({ slots: [slot], visibility: 'hidden' });
    else group.unit.slots.push(slot);
    if (!hidden) this.#pieces.push({ kind: 'text', slot });
  }

  #word(name: string, value: number | undefined): void {
    const group = this.#group;
    if (this.#stale > 0 && name !== 'u') return void this.#stale--;
    if (group.fresh && this.#begins(group, name)) return;
    if (name === '*') return;
    const letter = Object.hasOwn(LETTERS, name) ? LETTERS[name] : undefined;
    if (letter !== undefined) return this.#say(letter);
    // The end of a paragraph that is hidden parts nothing that is shown.
    if (ENDS.has(name) && !(group.hidden && group.place === 'shown')) group.unit.slots = undefined;
    if ((ENDS.has(name) || LOOKS.has(name)) && group.place === 'shown' && !group.hidden)
      return void this.#pieces.push({ kind: 'code', code: `\\${name}${value ?? ''} ` });
    this.#setting(group, name, value);
  }

  /** Whether the word says what a group is. */
  #begins(group: Group, name: string): boolean {
    if (name === '*') return (group.starred = true);
    group.fresh = false;
    const unseen = UNSEEN_GROUPS.has(name) || (group.starred && !OPEN_GROUPS.has(name));
    if (!unseen && !KEPT_GROUPS.has(name)) return false;
    const place = name === 'fonttbl' ? 'fonts' : name === 'pict' ? 'pict' : unseen ? 'unseen' : 'shown';
    this.#become(group, place, name);
    return true;
  }

  #become(group: Group, place: Group['place'], name: string): void {
    const was = this.#stack.at(-2)?.place ?? 'shown';
    // Nothing within hidden text is visible.
    const is = was !== 'shown' && place === 'shown' ? was : place;
    const picture = is === 'pict' && was === 'shown' ? { type: '', hex: [], size: '' } : group.picture;
    this.#stack[this.#stack.length - 1] = { ...group, place: is, unit: { slots: undefined }, picture };
    const open = this.#pieces.at(-1);
    if (is === 'shown') this.#pieces.push({ kind: 'code', code: `\\${name} ` });
    else if (group.place === 'shown' && open?.kind === 'code' && open.code === '{') this.#pieces.pop();
    else if (group.place === 'shown') this.#pieces.push({ kind: 'code', code: '}' });
  }

  #setting(group: Group, name: string, value: number | undefined): void {
    switch (name) {
      case 'u': {
        const code = ((value ?? 0) + 0x1_0000) & 0xffff;
        this.#say(String.fromCharCode(code));
        this.#stale = group.skip;
        return;
      }
      case 'uc':
        group.skip = Math.max(0, Math.min(16, value ?? 1));
        return;
      case 'f':
        group.font = value ?? 0;
        this.#fontSaid = value ?? 0;
        return;
      case 'fcharset': {
        const encoding = encodingOfCharset(value ?? 0);
        if (group.place === 'fonts' && encoding !== undefined) this.#fonts.set(this.#fontSaid, encoding);
        return;
      }
      case 'ansicpg':
      case 'cpg':
        this.#encoding = pageOf(value ?? 1252);
        return;
      case 'mac':
        this.#encoding = 'macintosh';
        return;
      case 'pc':
      case 'pca':
        throw new DocumentFault('unsupported', 'RTF in a DOS encoding is not supported: save it again');
      case 'v':
      case 'deleted':
        group.hidden = value !== 0;
        return;
      case 'plain':
        group.hidden = false;
        return;
      case 'pngblip':
      case 'jpegblip':
        if (group.picture) group.picture.type = name === 'pngblip' ? 'image/png' : 'image/jpeg';
        return;
      default:
        if (group.picture && SIZES.has(name)) group.picture.size += `\\${name}${value ?? ''}`;
    }
  }
}

function pageOf(page: number): string {
  const encoding = encodingOfPage(page);
  if (encoding === undefined)
    throw new DocumentFault('unsupported', `RTF in code page ${page} is not supported: save it again`);
  return encoding;
}

function broken(): DocumentFault {
  return new DocumentFault('unreadable', 'the document is damaged or incomplete');
}
