import { plainLetters } from '#/values/document-text.ts';

/** A stretch of a text, UTF-16 offsets. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where an original was found, and which. */
export interface Found extends Span {
  readonly original: string;
}

/** As many letters and digits are not there by chance: found within a word too. */
const LONG = 8;

/** Letters and digits of a text, lower case and without accents, each with where it came from. */
interface Bare {
  readonly text: string;
  readonly from: readonly number[];
  /** Whether something else stood before the letter at this index; at the end it is true. */
  readonly boundary: readonly boolean[];
}

/**
 * Finds originals in text as it was recognized: blanks, punctuation, case and accents don't count. One that is short
 * must be whole words; one of a single letter or digit is not looked for. One pass over the text, however many originals.
 */
export function findOriginals(text: string, originals: readonly string[]): readonly Found[] {
  const index = indexOf(originals);
  // Most texts have none: this check does not need the origin of each letter.
  return isIn(lettersAlone(text), index) ? occurrences(strip(text), index) : [];
}

/** What of a text counts when originals are looked for: its letters and digits, lower case and without accents. */
export function bareOf(text: string): string {
  return strip(text).text;
}

/** Originals of one length by their letters: several may be spelled with the same ones. */
interface OfLength {
  readonly length: number;
  readonly originals: ReadonlyMap<string, readonly string[]>;
}

/** Originals by their first letters, as many as `HEADS` says: many may begin alike, so that each length is one look-up. */
type Index = readonly ReadonlyMap<string, readonly OfLength[]>[];

const HEADS = [6, 2] as const;
const INDEXES = new WeakMap<readonly string[], Index>();

function indexOf(originals: readonly string[]): Index {
  const known = INDEXES.get(originals);
  if (known) return known;
  const wanted = Map.groupBy(originals, bareOf);
  const [long, short] = HEADS;
  const bares = [...wanted.keys()].filter(({ length }) => length > 1);
  const index = [bares.filter(({ length }) => length >= long), bares.filter(({ length }) => length < long)].map(
    (some, kind) => {
      const heads = Map.groupBy(some, (bare) => bare.slice(0, kind === 0 ? long : short));
      return new Map(Array.from(heads, ([head, alike]) => [head, byLength(alike, wanted)]));
    },
  );
  INDEXES.set(originals, index);
  return index;
}

function byLength(bares: readonly string[], wanted: ReadonlyMap<string, readonly string[]>): readonly OfLength[] {
  const lengths = Map.groupBy(bares, ({ length }) => length);
  return Array.from(lengths, ([length, some]) => ({
    length,
    originals: new Map(some.map((bare) => [bare, wanted.get(bare) ?? []])),
  }));
}

function isIn(text: string, index: Index): boolean {
  for (const _ of matches(text, index)) return true;
  return false;
}

interface Match {
  readonly at: number;
  readonly length: number;
  readonly original: string;
}

function* matches(text: string, index: Index): Generator<Match> {
  for (const [kind, heads] of index.entries()) {
    const size = HEADS[kind] ?? 0;
    if (heads.size === 0) continue;
    for (let at = 0; at + size <= text.length; at++) {
      for (const { length, originals } of heads.get(text.slice(at, at + size)) ?? []) {
        for (const original of originals.get(text.slice(at, at + length)) ?? []) yield { at, length, original };
      }
    }
  }
}

function occurrences(bare: Bare, index: Index): readonly Found[] {
  const found: Found[] = [];
  for (const { at, length, original } of matches(bare.text, index)) {
    const end = at + length;
    if (length < LONG && !(bare.boundary[at] && bare.boundary[end])) continue;
    found.push({ start: bare.from[at] ?? 0, end: (bare.from[end - 1] ?? 0) + 1, original });
  }
  return found;
}

/** The letters of `strip`, at once. */
function lettersAlone(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase().replace(/[^a-z0-9]+/g, '');
  // Halves of a character are not looked at, here as there.
  return plainLetters(text.replace(/[\ud800-\udfff]+/g, '')).replace(/[^\p{L}\p{N}]+/gu, '');
}

/** Most text is of these: asking for each what it is would take most of the time. */
const ASCII = Array.from({ length: 128 }, (_, code) => lettersOf(String.fromCharCode(code)));

function strip(text: string): Bare {
  let bare = '';
  const from: number[] = [];
  const boundary: boolean[] = [];
  let apart = true;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const letters = code < 128 ? (ASCII[code] ?? '') : lettersOf(text.charAt(at));
    if (letters === '') apart ||= code < 128 || !/\p{M}/u.test(text.charAt(at));
    for (const letter of letters) {
      bare += letter;
      from.push(at);
      boundary.push(apart);
      apart = false;
    }
  }
  boundary.push(true);
  return { text: bare, from, boundary };
}

function lettersOf(character: string): string {
  return plainLetters(character).replace(/[^\p{L}\p{N}]/gu, '');
}
