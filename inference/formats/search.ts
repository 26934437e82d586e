import { DocumentFault, type RedactOptions } from '#/ports/documents.ts';
import { bareOf, findOriginals, type Found } from './originals.ts';
import { apart } from './identifiers.ts';
import { replaceSpans, type Slot, type SlottedUnit } from './slots.ts';

/** A letter that no original has: the part it replaces is not matched, nor are the texts before and after it as one. */
const NOTHING = '\ua66e';
/** Stands between texts that are not read as one. */
const BREAK = `\n${NOTHING}\n`;
/** A number of so few digits stands in identifiers and sizes by chance. */
const FEW_DIGITS = /^\d{1,6}$/;
/** An original of fewer letters must stand in an identifier as it is written: values of a format are common words. */
const SHORT = 8;

/** Looks for originals in what a document holds, beyond the units in which they were found, and takes them out. */
export class Search {
  readonly #originals: readonly string[];
  readonly #tags: ReadonlyMap<string, string>;
  readonly #known: RegExp | undefined;

  /** `units` as they were read, unchanged: they determine which tag an original got. */
  constructor(options: RedactOptions, units: readonly SlottedUnit[]) {
    this.#originals = options.originals.filter((original) => bareOf(original).length > 1);
    const tags = new Map<string, string>();
    const texts = new Map<string, string>();
    for (const { unit, start, end, tag } of options.replacements) {
      const text = texts.get(unit) ?? (units[Number(unit)]?.slots ?? []).map((slot) => slot.text).join('');
      texts.set(unit, text);
      tags.set(bareOf(text.slice(start, end)), tag);
    }
    this.#tags = tags;
    const names = [...new Set(options.replacements.map(({ tag }) => tag))].filter((tag) => tag !== '');
    this.#known =
      names.length > 0 ? new RegExp(names.map((tag) => tag.replace(/[^\w«»]/g, '\\$&')).join('|'), 'g') : undefined;
  }

  /** Takes originals out of texts of which each is made up of slots, also where one is spread over several texts. */
  sweep(texts: readonly (readonly Slot[])[]): void {
    if (this.#originals.length === 0) return;
    const slots = texts.flatMap((text) => [...text, { text: '\n' }]);
    const found = this.#find(slots.map(({ text }) => text).join(''));
    if (found.length > 0) replaceSpans(slots, this.#tagged(found));
  }

  /** Takes originals out of identifiers, each on its own: the same one becomes the same everywhere. */
  sweepIdentifiers(slots: readonly Slot[]): void {
    if (this.#originals.length === 0) return;
    const same = Map.groupBy(slots, ({ text }) => text);
    const changed = new Set(this.#identifiersWith(same.keys()));
    for (const [value, owners] of same) {
      if (!changed.has(value)) continue;
      const slot = { text: value };
      const found = this.#findInIdentifier(value);
      replaceSpans(
        [slot],
        this.#tagged(found).map((span) => ({ ...span, tag: span.tag.replace(/[«»]/g, '') })),
      );
      for (const owner of owners) owner.text = slot.text;
    }
  }

  /** Whether an original is in a text. */
  isIn(text: string): boolean {
    return this.#originals.length > 0 && this.#find(text).length > 0;
  }

  /** Whether an original is in one of these identifiers. */
  isInIdentifiers(values: Iterable<string>): boolean {
    return this.#originals.length > 0 && this.#identifiersWith(values).length > 0;
  }

  #find(text: string): readonly Found[] {
    const masked = this.#known
      ? text.replace(this.#known, (tag) => `«${NOTHING.repeat(Math.max(0, tag.length - 2))}»`)
      : text;
    return findOriginals(masked, this.#originals);
  }

  #identifiersWith(values: Iterable<string>): readonly string[] {
    const all = [...new Set(values)];
    // Once over all of them: few have anything.
    if (this.#find(all.join(BREAK)).length === 0) return [];
    return all.filter((value) => this.#findInIdentifier(value).length > 0);
  }

  #findInIdentifier(value: string): readonly Found[] {
    return this.#find(value).filter(({ original, start, end }) => {
      if (FEW_DIGITS.test(original)) return false;
      if (bareOf(original).length >= SHORT) return true;
      const written = value.slice(start, end);
      return written === original || apart(written) === original;
    });
  }

  #tagged(found: readonly Found[]): readonly { start: number; end: number; tag: string }[] {
    return found.map(({ start, end, original }) => ({ start, end, tag: this.#tags.get(bareOf(original)) ?? '' }));
  }
}

/** The error if an original remains. */
export function leftOver(): DocumentFault {
  return new DocumentFault('redaction_failed', 'personal data could still be found in the result');
}
