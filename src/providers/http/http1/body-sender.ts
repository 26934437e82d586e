import type { Connection } from './connection.ts';
import { framedBy } from './request-head.ts';

/** A body that is sent as its pieces come, with back-pressure. */
export class BodySender {
  readonly #pieces: AsyncIterator<Uint8Array>;
  /** Bytes of all pieces; undefined: unknown, so they are sent in chunks. */
  readonly #length: number | undefined;
  #stopped = false;

  constructor(body: AsyncIterable<Uint8Array>, length: number | undefined) {
    this.#pieces = body[Symbol.asyncIterator]();
    this.#length = length;
  }

  /** Sends `head` and all pieces, and tells `onPiece` of each. Rejects with what the body rejects with. */
  async send(connection: Connection, method: string, head: string, onPiece: () => void): Promise<void> {
    connection.writes();
    let next = await this.#next();
    if (next && !next.done) {
      const length = this.#length;
      const chunked = length === undefined;
      let before = head + (chunked ? 'transfer-encoding: chunked\r\n\r\n' : framedBy(method, length));
      for (; next && !next.done; next = await this.#next()) {
        const piece = next.value;
        if (piece.length === 0) continue;
        onPiece();
        connection.write(chunked ? `${before}${piece.length.toString(16)}\r\n` : before, piece);
        before = chunked ? '\r\n' : '';
        await connection.drained();
      }
      if (next && chunked) connection.write(`${before}0\r\n\r\n`, '');
    } else if (next) connection.write(head + framedBy(method, 0), '');
    if (next) connection.wrote();
  }

  /** The server does not read the rest. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    void this.#pieces.return?.().catch(() => undefined);
  }

  /** Undefined once it was stopped. */
  async #next(): Promise<IteratorResult<Uint8Array> | undefined> {
    if (this.#stopped) return undefined;
    const next = await this.#pieces.next();
    return this.#stopped ? undefined : next;
  }
}
