import { notSearched } from '../detect-leaves.ts';
import type { Detection } from '../detection.ts';
import type { Match } from '../match.ts';
import type { PartMatch, ReadText } from '../decoding/text-runs.ts';
import { createTermFinder, type TermFinder } from './term-finder.ts';
import { seamsOf, termsAcrossTexts, type Seams } from './terms-across-texts.ts';
import type { Term } from './terms.ts';
import type { Steps } from '#/wire/document/steps.ts';

/** A text, and the characters that its reader leaves out. */
export interface TermText {
  readonly text: string;
  readonly skipped?: RegExp | undefined;
}

/** By their list, which a policy has for as long as it is in force. */
const FINDERS = new WeakMap<readonly Term[], TermFinder>();
const SEAMS = new WeakMap<readonly Term[], Seams>();

/** Terms that are looked for in the texts of one request: on the spot in small ones, beforehand in large ones. */
export class ScopeTerms {
  readonly #terms: readonly Term[];
  readonly #find: TermFinder;
  /** What was found beforehand, by text and by the characters left out. */
  readonly #known = new Map<string, Map<string | undefined, readonly Match[]>>();

  private constructor(terms: readonly Term[], find: TermFinder) {
    this.#terms = terms;
    this.#find = find;
  }

  /** Undefined where there are no terms. */
  static of(terms: readonly Term[]): ScopeTerms | undefined {
    const known = FINDERS.get(terms);
    const find = known ?? createTermFinder(terms);
    if (!find) return undefined;
    if (!known) FINDERS.set(terms, find);
    return new ScopeTerms(terms, find);
  }

  in({ text, skipped }: TermText): readonly Match[] {
    return this.#known.get(text)?.get(skipped?.source) ?? this.#find(text, skipped);
  }

  /** Their parts that go on from one text in the next. */
  over(read: readonly ReadText[]): Steps<readonly PartMatch[]> {
    let seams = SEAMS.get(this.#terms);
    if (!seams) SEAMS.set(this.#terms, (seams = seamsOf(this.#terms)));
    return termsAcrossTexts(read, seams, (text) => this.in({ text }));
  }

  /** Looks for them off the event loop. Throws `inspection_unavailable` or `request_too_large`. */
  async lookAhead(of: readonly TermText[], detection: Detection): Promise<void> {
    const asked = of.filter(({ text, skipped }) => !this.#known.get(text)?.has(skipped?.source));
    const texts = asked.map(({ text }) => text);
    const skipped = asked.map((one) => one.skipped);
    try {
      const found = await detection.search({ kind: 'terms', texts, terms: this.#terms, skipped });
      for (const [at, one] of asked.entries()) this.#know(one, found[at] ?? []);
    } catch (cause) {
      throw notSearched(cause, 'The request could not be inspected. Nothing was sent.');
    }
  }

  #know({ text, skipped }: TermText, found: readonly Match[]): void {
    const known = this.#known.get(text);
    if (known) known.set(skipped?.source, found);
    else this.#known.set(text, new Map([[skipped?.source, found]]));
  }
}
