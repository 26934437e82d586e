import { hash, randomBytes } from 'node:crypto';

/** Shorter texts are searched as fast as a digest is made, and those of this length are not digested at once. */
const SHORTEST = 96;
const LONGEST = 256 * 1024;
/** So many digests at most, of 22 characters each: the last ones, about half of them or more. */
const MOST = 40_000;
/** The name of all structured categories; that of a set is a JSON array. */
const ALL = 'all';

/**
 * Texts in which nothing was found, so that those a conversation repeats are not searched again. It keeps no text, but a
 * digest with a secret that ends with the process, and each `owner` has its own: whether a text was seen, others cannot learn.
 */
export class CleanTexts {
  readonly #secret = randomBytes(24).toString('base64');
  readonly #names = new WeakMap<ReadonlySet<string>, { readonly size: number; readonly name: string }>();
  #young = new Set<string>();
  #old = new Set<string>();

  /**
   * The digest of a text that is searched for these categories (undefined: for all structured ones); undefined where none is
   * made. A search for no categories has none: it tells nothing of the text.
   */
  digestOf(owner: string, categories: ReadonlySet<string> | undefined, text: string): string | undefined {
    if (categories?.size === 0) return undefined;
    // Texts with halves of characters have the digest of others.
    if (text.length < SHORTEST || text.length > LONGEST || !text.isWellFormed()) return undefined;
    return hash('sha256', `${this.#secret}\0${owner}\0${this.#nameOf(categories)}\0${text}`, 'base64url').slice(0, 22);
  }

  has(digest: string): boolean {
    if (this.#young.has(digest)) return true;
    if (!this.#old.has(digest)) return false;
    this.add(digest);
    return true;
  }

  add(digest: string): void {
    this.#young.add(digest);
    if (this.#young.size < MOST / 2) return;
    this.#old = this.#young;
    this.#young = new Set();
  }

  #nameOf(categories: ReadonlySet<string> | undefined): string {
    if (categories === undefined) return ALL;
    const known = this.#names.get(categories);
    if (known?.size === categories.size) return known.name;
    const name = JSON.stringify([...categories].sort());
    this.#names.set(categories, { size: categories.size, name });
    return name;
  }
}
