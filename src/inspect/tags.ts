import { ownCopy } from '#/wire/document/large-text.ts';

const TAG = /«[A-Z][A-Z0-9_]{0,63}_[0-9]{1,9}»/g;

/**
 * The reversible tags of one call: `«EMAIL_1»` stands for one exact text. Numbered by first appearance in prompt
 * order, so that the same conversation sends the same prefix on each turn and provider prompt caches survive.
 */
export class TagTable {
  /** How many tags there are. */
  size = 0;
  readonly #tags = new Map<string, string>();
  readonly #originals = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #places = new Map<string, number[]>();
  readonly #taken: ReadonlySet<string>;

  /** `taken`: tags that are not given out, because the text has them already. */
  constructor(taken: ReadonlySet<string> = new Set()) {
    this.#taken = taken;
  }

  /** The tag of a text: the one it already has, else the next of its category. `place`: where in the request it stands. */
  tagFor(original: string, category: string, place?: number): string {
    const tag = this.#tags.get(original) ?? this.#next(original, category);
    if (place === undefined) return tag;
    const places = this.#places.get(tag);
    if (places === undefined) this.#places.set(tag, [place]);
    else if (places.at(-1) !== place) places.push(place);
    return tag;
  }

  #next(found: string, category: string): string {
    const original = ownCopy(found);
    let number = (this.#counts.get(category) ?? 0) + 1;
    while (this.#taken.has(`«${category}_${number}»`)) number++;
    this.#counts.set(category, number);
    const tag = `«${category}_${number}»`;
    this.#tags.set(original, tag);
    this.#originals.set(tag, original);
    this.size += 1;
    return tag;
  }

  originalOf(tag: string): string | undefined {
    return this.#originals.get(tag);
  }

  /** Where in the request the original of a tag stands: offsets of the values that hold it, in prompt order. */
  placesOf(tag: string): readonly number[] {
    return this.#places.get(tag) ?? [];
  }

  /** Whether a text is the beginning of some tag, and not yet all of it. */
  isPrefix(text: string): boolean {
    if (text === '') return false;
    for (const [category, count] of this.#counts) {
      const before = `«${category}_`;
      if (before.startsWith(text)) return true;
      if (text.startsWith(before) && beginsNumber(text.slice(before.length), count)) return true;
    }
    return false;
  }

  /** Tag -> original, of all of them. */
  get originals(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#originals);
  }
}

/** Cheap and never wrong about no: a tag begins with `«`, written out or escaped. */
export function mayHoldTag(source: string): boolean {
  return source.includes('«') || source.includes('\\');
}

const BEGUN_NUMBER = /^[1-9][0-9]*$/;

/** Whether a number from 1 to `most` begins with these digits. */
function beginsNumber(digits: string, most: number): boolean {
  return BEGUN_NUMBER.test(digits) && Number(digits) <= most;
}

/** A stretch of text that already looks like a tag. It is given a tag of its own, so that it can't be taken for another's. */
export function* tagLiterals(text: string): Generator<{ start: number; end: number; category: string }> {
  if (!text.includes('«')) return;
  for (const match of text.matchAll(TAG)) {
    const category = match[0].slice(1, match[0].lastIndexOf('_'));
    yield { start: match.index, end: match.index + match[0].length, category };
  }
}
