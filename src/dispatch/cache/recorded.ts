import type { Incoming } from '#/ports/provider.ts';
import { ownCopy } from '#/wire/document/large-text.ts';

/** More than this of an answer is neither cached nor retained. */
export const MOST_RECORDED = 1024 * 1024;

/** As much of a text as is kept: never a view that holds all of it. */
export function beginningOf(text: string): string {
  return text.length > MOST_RECORDED ? ownCopy(text.slice(0, MOST_RECORDED)) : text;
}

/** An answer on its way, of which a copy is kept as it came. */
export class RecordedAnswer implements Incoming {
  /** Told when the answer turns out too long to be kept whole. */
  readonly #onTooLong: () => void;
  readonly #incoming: Incoming;
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(incoming: Incoming, onTooLong: () => void) {
    this.#incoming = incoming;
    this.#onTooLong = onTooLong;
  }

  get status(): number {
    return this.#incoming.status;
  }

  /** Whether everything was recorded. */
  get whole(): boolean {
    return this.#length <= MOST_RECORDED;
  }

  /** The recorded bytes. */
  get bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  header(name: string): string | undefined {
    return this.#incoming.header(name);
  }

  async text(limit: number): Promise<string> {
    const text = await this.#incoming.text(limit);
    this.#record(Buffer.from(text));
    return text;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#incoming.chunks()) {
      this.#record(chunk);
      yield chunk;
    }
  }

  close(): void {
    this.#incoming.close();
  }

  #record(piece: Uint8Array): void {
    const before = this.whole;
    if (before) this.#pieces.push(piece.subarray(0, MOST_RECORDED - this.#length));
    this.#length += piece.length;
    if (before && !this.whole) this.#onTooLong();
  }
}

/** A recorded answer as if it came again. */
export function replayed(bytes: Buffer): Incoming {
  return {
    status: 200,
    header: () => undefined,
    text: () => Promise.resolve(bytes.toString('utf8')),
    async *chunks() {
      yield bytes;
    },
    close: () => {},
  };
}
