const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Words of a UUID. */
const WORDS = 4;

/**
 * The call ids seen so far, each in full: 22 to 43 bytes a UUID, where a Set of texts takes over 100. Texts that are no
 * UUIDs are kept too; they occur only in files that were made by hand.
 */
export class CallSet {
  #size = 0;
  #mask = 1_023;
  /** All words zero: free. */
  #words = new Uint32Array((this.#mask + 1) * WORDS);
  readonly #others = new Set<string>();

  /** Adds an id; false when it was there. */
  add(callId: string): boolean {
    if (!UUID.test(callId) || callId === NIL) return this.#others.size < this.#others.add(callId).size;
    const hex = callId.replaceAll('-', '');
    const words = [0, 8, 16, 24].map((at) => Number.parseInt(hex.slice(at, at + 8), 16));
    if (this.#size * 4 > this.#mask * 3) this.#grow();
    if (!this.#put(words, 0)) return false;
    this.#size += 1;
    return true;
  }

  /** Puts the four words from `from` on; false when they were there. */
  #put(words: ArrayLike<number>, from: number): boolean {
    const [a, b, c, d] = [words[from]!, words[from + 1]!, words[from + 2]!, words[from + 3]!];
    // The end of a UUIDv7 is random.
    for (let place = (d ^ c ^ b) & this.#mask; ; place = (place + 1) & this.#mask) {
      const at = place * WORDS;
      const known = this.#words;
      if (known[at] === 0 && known[at + 1] === 0 && known[at + 2] === 0 && known[at + 3] === 0) {
        known.set([a, b, c, d], at);
        return true;
      }
      if (known[at] === a && known[at + 1] === b && known[at + 2] === c && known[at + 3] === d) return false;
    }
  }

  #grow(): void {
    const old = this.#words;
    this.#mask = this.#mask * 2 + 1;
    this.#words = new Uint32Array((this.#mask + 1) * WORDS);
    for (let at = 0; at < old.length; at += WORDS)
      if (old[at] !== 0 || old[at + 1] !== 0 || old[at + 2] !== 0 || old[at + 3] !== 0) this.#put(old, at);
  }
}

const NIL = '00000000-0000-0000-0000-000000000000';
