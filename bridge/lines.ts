/** A line that was too long to be kept. */
export interface LongLine {
  /** Its first and last characters, in which its id may be. */
  readonly head: string;
  readonly tail: string;
  readonly bytes: number;
}

const LINE_END = 10;
const SHOWN = 256;

/** Cuts bytes into lines of at most so many bytes. Of a longer line only its ends are kept. */
export class Lines {
  readonly #most: number;
  readonly #onLine: (line: string) => void;
  readonly #onLong: (line: LongLine) => void;
  #parts: Buffer[] = [];
  #bytes = 0;
  #head: Buffer | undefined;
  #tail = Buffer.alloc(0);

  constructor(most: number, onLine: (line: string) => void, onLong: (line: LongLine) => void) {
    this.#most = most;
    this.#onLine = onLine;
    this.#onLong = onLong;
  }

  push(chunk: Buffer): void {
    for (let from = 0; from < chunk.length;) {
      const found = chunk.indexOf(LINE_END, from);
      const end = found < 0 ? chunk.length : found;
      this.#add(chunk.subarray(from, end));
      if (found >= 0) this.#end();
      from = end + 1;
    }
  }

  #add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes <= this.#most) {
      this.#parts.push(part);
      return;
    }
    this.#head ??= Buffer.concat(this.#parts).subarray(0, SHOWN);
    this.#parts = [];
    // A copy: a part of a chunk would keep all of it.
    this.#tail = Buffer.concat([this.#tail, part.subarray(-SHOWN)]).subarray(-SHOWN);
  }

  #end(): void {
    const [parts, head, tail, bytes] = [this.#parts, this.#head, this.#tail, this.#bytes];
    this.#parts = [];
    this.#head = undefined;
    this.#tail = Buffer.alloc(0);
    this.#bytes = 0;
    if (head) this.#onLong({ head: head.toString('utf8'), tail: tail.toString('utf8').trimEnd(), bytes });
    else this.#onLine(Buffer.concat(parts).toString('utf8'));
  }
}
