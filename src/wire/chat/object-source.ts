const QUOTE = 34;
const BACKSLASH = 92;

/**
 * The source of a JSON object that comes in pieces: whether its last brace was there. Looks at each character once,
 * however many the pieces, and does not check the text between the braces.
 */
export class ObjectSource {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #begun = false;
  /** Something came that no object begins or ends with. */
  #broken = false;

  /** Nothing but blanks can follow. */
  get complete(): boolean {
    return this.#begun && this.#depth === 0 && !this.#broken;
  }

  add(piece: string): void {
    for (let at = 0; at < piece.length; at++) this.#read(piece.charCodeAt(at));
  }

  #read(code: number): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (code === BACKSLASH) this.#escaped = true;
      else if (code === QUOTE) this.#inString = false;
    } else if (this.#depth > 0) this.#readInside(code);
    else if (code === 123 && !this.#begun) {
      this.#begun = true;
      this.#depth = 1;
    } else if (code > 32) this.#broken = true;
  }

  #readInside(code: number): void {
    if (code === QUOTE) this.#inString = true;
    else if (code === 123 || code === 91) this.#depth++;
    else if (code === 125 || code === 93) this.#depth--;
  }
}
