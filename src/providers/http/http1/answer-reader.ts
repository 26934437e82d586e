import { AnswerHead, CHUNKED, UNTIL_CLOSE } from './answer-head.ts';
import { BrokenAnswer, CutOff } from './broken-answer.ts';
import { ChunkedBody } from './chunked-body.ts';

/** Most informational answers before the one that counts. // RFC 9110 15.2 */
const MAX_INFORMATIONAL = 16;

const KEPT_SECONDS = /timeout=\s{0,9}(\d{1,9})/i;

/** Receives an answer as it is read. */
export interface AnswerSink {
  onHead(head: AnswerHead): void;
  onData(data: Buffer): void;
}

/** Reads the answer to one request, wherever its bytes are cut, and not one byte beyond its end. */
export class AnswerReader {
  complete = false;
  /** Whether the connection may serve another request: known once the answer is complete. */
  keeps = false;
  /** Milliseconds for which the server says that it keeps an idle connection. */
  keptMs: number | undefined;
  readonly #method: string;
  readonly #sink: AnswerSink;
  /** While it is read. */
  #head: AnswerHead | undefined = new AnswerHead('head');
  #informational = 0;
  #chunks: ChunkedBody | undefined;
  /** Bytes of the body that have not come, or `UNTIL_CLOSE`. */
  #left = 0;

  constructor(method: string, sink: AnswerSink) {
    this.#method = method;
    this.#sink = sink;
  }

  /** Reads on; returns where the answer ends, or the number of bytes. Throws `BrokenAnswer` or `CutOff`. */
  read(bytes: Buffer): number {
    let at = 0;
    while (this.#head && at < bytes.length) at = this.#readHead(bytes, at, this.#head);
    if (this.complete || at === bytes.length) return at;
    if (this.#chunks) {
      at = this.#chunks.read(bytes, at, (data) => this.#sink.onData(data));
      this.complete = this.#chunks.complete;
      return at;
    }
    const end = this.#left === UNTIL_CLOSE ? bytes.length : Math.min(bytes.length, at + this.#left);
    this.#sink.onData(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    if (this.#left !== UNTIL_CLOSE) {
      this.#left -= end - at;
      this.complete = this.#left === 0;
    }
    return end;
  }

  /** The server has closed its side. Throws `CutOff` where that does not end the answer. */
  end(): void {
    if (this.complete) return;
    if (this.#head || this.#left !== UNTIL_CLOSE) throw new CutOff('ERR_CLOSED_EARLY', 'the connection was closed');
    this.complete = true;
  }

  #readHead(bytes: Buffer, from: number, head: AnswerHead): number {
    const at = head.scan(bytes, from);
    if (!head.complete) return at;
    if (head.status < 200) {
      // Nothing was asked for that another protocol could be spoken on.
      if (head.status === 101) throw new BrokenAnswer('ERR_UPGRADE', 'the server wants to speak another protocol');
      if (++this.#informational > MAX_INFORMATIONAL)
        throw new BrokenAnswer('ERR_INFORMATIONAL', `more than ${MAX_INFORMATIONAL} informational answers`);
      this.#head = new AnswerHead('head');
      return at;
    }
    this.#head = undefined;
    const framing = head.framing(this.#method);
    this.keeps = framing !== UNTIL_CLOSE && head.keeps(this.#method);
    const hint = this.keeps ? head.header('keep-alive') : undefined;
    const seconds = hint === undefined ? undefined : KEPT_SECONDS.exec(hint)?.[1];
    if (seconds !== undefined) this.keptMs = Number(seconds) * 1000;
    if (framing === CHUNKED) this.#chunks = new ChunkedBody();
    else this.#left = framing;
    this.complete = framing === 0;
    this.#sink.onHead(head);
    return at;
  }
}
