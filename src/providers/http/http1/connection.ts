import type { Socket } from 'node:net';
import type { AnswerHead } from './answer-head.ts';
import { AnswerReader, type AnswerSink } from './answer-reader.ts';
import { CutOff } from './broken-answer.ts';

/** One request with its answer, as a connection sees it. */
export interface Exchange extends AnswerSink {
  readonly method: string;
  /** The caller no longer waits for it. */
  readonly over: boolean;
  /** It has a connection now, which is its own until it ends: it writes itself. */
  onConnection(connection: Connection): void;
  onHead(head: AnswerHead): void;
  onData(data: Buffer): void;
  onEnd(): void;
  onError(error: Error): void;
}

/** Receives state changes of a connection. */
export interface ConnectionOwner {
  /** It has served an answer and may serve another, for so long as the server says. */
  onFree(connection: Connection, keptMs: number | undefined): void;
  onGone(connection: Connection): void;
  /** One that had served before ended without a word on what it was asked next. */
  onStale(): void;
}

/** One connection, with one exchange at a time. Bytes that arrive without an exchange end it. */
export class Connection {
  /** When an idle connection is closed, by `performance.now()`. */
  idleUntil = 0;
  gone = false;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  #exchange: Exchange | undefined;
  #reader: AnswerReader | undefined;
  /** Something of the request at hand was written. */
  #asked = false;
  #writing = false;
  #hasServed = false;
  /** Something of the answer at hand has come. */
  #heard = false;
  #drained: (() => void) | undefined;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    socket.on('data', this.#read);
    socket.on('end', () => this.#end());
    socket.on('error', (error) => this.#break(error));
    socket.on('close', () => this.#break(new CutOff('ERR_CLOSED_EARLY', 'the connection was closed')));
    socket.on('drain', () => this.#drain());
  }

  /** Gives it an exchange, which writes its request. */
  begin(exchange: Exchange): void {
    this.#exchange = exchange;
    this.#asked = false;
    this.#heard = false;
    this.#reader = new AnswerReader(exchange.method, exchange);
    this.#socket.ref();
    try {
      exchange.onConnection(this);
    } catch (error) {
      this.#break(error as Error);
    }
  }

  /** A whole request of which only the body may be more than ASCII. */
  writeText(text: string): void {
    this.#asked = true;
    this.#socket.write(text, 'utf8');
  }

  /** A head, which is a character a byte, and what belongs to it, in one write. */
  write(head: string, body: string | Uint8Array): void {
    this.#asked = true;
    this.#socket.cork();
    this.#socket.write(head, 'latin1');
    if (typeof body === 'string') this.#socket.write(body, 'utf8');
    else if (body.length > 0) this.#socket.write(body);
    this.#socket.uncork();
  }

  /** From here to `wrote` the request is under way: an answer that comes before its end is the connection's last. */
  writes(): void {
    this.#writing = true;
  }

  wrote(): void {
    this.#writing = false;
  }

  /** Resolves once the written bytes have left, or the connection is closed. */
  drained(): Promise<void> | undefined {
    if (this.gone || !this.#socket.writableNeedDrain) return undefined;
    return new Promise((resolve) => (this.#drained = resolve));
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Ends it and tells its exchange. */
  cut(error: Error): void {
    this.#break(error);
  }

  /** Ends it without telling its exchange. */
  drop(): void {
    this.#exchange = undefined;
    this.#reader = undefined;
    this.#lose();
  }

  closed(): Promise<void> {
    if (this.#socket.closed) return Promise.resolve();
    return new Promise((resolve) => this.#socket.once('close', () => resolve()));
  }

  readonly #read = (bytes: Buffer): void => {
    const reader = this.#reader;
    // Nothing was asked: this would be taken for the answer to the next request.
    if (!reader || !this.#asked) return this.#break(new CutOff('ERR_UNASKED', 'an answer came to no request'));
    this.#heard = true;
    let at: number;
    try {
      at = reader.read(bytes);
    } catch (error) {
      return this.#break(error as Error);
    }
    if (reader.complete) this.#complete(reader, at === bytes.length);
  };

  #end(): void {
    const reader = this.#reader;
    if (!reader) return this.drop();
    try {
      reader.end();
    } catch (error) {
      return this.#break(error as Error);
    }
    this.#complete(reader, false);
  }

  /** `exact`: nothing came behind the answer. */
  #complete(reader: AnswerReader, exact: boolean): void {
    const exchange = this.#exchange;
    if (this.#reader !== reader) return;
    this.#exchange = undefined;
    this.#reader = undefined;
    if (exact && reader.keeps && !this.#writing && !this.gone) {
      // It may have been stopped for one who takes slowly.
      if (this.#socket.isPaused()) this.#socket.resume();
      this.#hasServed = true;
      this.#socket.unref();
      this.#owner.onFree(this, reader.keptMs);
    } else this.#lose();
    exchange?.onEnd();
  }

  #break(error: Error): void {
    const exchange = this.#exchange;
    if (exchange && this.#hasServed && !this.#heard) this.#owner.onStale();
    this.drop();
    exchange?.onError(error);
  }

  #lose(): void {
    if (this.gone) return;
    this.gone = true;
    this.#socket.destroy();
    this.#drain();
    this.#owner.onGone(this);
  }

  #drain(): void {
    const drained = this.#drained;
    this.#drained = undefined;
    drained?.();
  }
}
