/**
 * The call ids seen so far, as 64-bit fingerprints: 16 to 32 bytes a call, where a Set of texts takes over 100. Two of
 * ten million different UUIDv7 share one with a probability of 3 in a million.
 */
export class CallSet {
  #size = 0;
  #mask = 1_023;
  /** Two words a place; both zero: free. */
  #words = new Uint32Array(2_048);

  /** Adds an id; false when it was there. */
  add(callId: string): boolean {
    // The time and the random part, folded into one another.
    const high = (word(callId, 24) ^ word(callId, 0)) >>> 0;
    const low = (word(callId, 28, 36) ^ Number.parseInt(callId.slice(19, 23) + callId.slice(14, 18), 16)) >>> 0 || 1;
    if (this.#size * 2 > this.#mask) this.#grow();
    if (!this.#put(high, low)) return false;
    this.#size += 1;
    return true;
  }

  #put(high: number, low: number): boolean {
    for (let place = (high ^ low) & this.#mask; ; place = (place + 1) & this.#mask) {
      const at = place * 2;
      if (this.#words[at + 1] === 0) {
        this.#words[at] = high;
        this.#words[at + 1] = low;
        return true;
      }
      if (this.#words[at] === high && this.#words[at + 1] === low) return false;
    }
  }

  #grow(): void {
    const old = this.#words;
    this.#words = new Uint32Array(old.length * 2);
    this.#mask = this.#words.length / 2 - 1;
    for (let at = 0; at < old.length; at += 2) if (old[at + 1] !== 0) this.#put(old[at]!, old[at + 1]!);
  }
}

function word(callId: string, from: number, to = from + 8): number {
  return Number.parseInt(callId.slice(from, to), 16);
}
