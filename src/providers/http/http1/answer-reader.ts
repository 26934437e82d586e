import { BrokenAnswer, CutOff } from './broken-answer.ts';
import { ChunkedBody } from './chunked-body.ts';
import { HeadScanner } from './head-scanner.ts';

/** Most informational answers before the one that counts. // RFC 9110 15.2 */
const MAX_INFORMATIONAL = 16;

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
  keptMs: number | undefined;
  readonly #method: string;
  readonly #sink: AnswerSink;
  #scanner: HeadScanner | undefined = new HeadScanner('head');
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
    while (this.#scanner && at < bytes.length) at = this.#readHead(bytes, at, this.#scanner);
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
    if (this.#scanner || this.#left !== UNTIL_CLOSE) throw new CutOff('ERR_CLOSED_EARLY', 'the connection was closed');
    this.complete = true;
  }

  #readHead(bytes: Buffer, from: number, scanner: HeadScanner): number {
    const at = scanner.scan(bytes, from);
    if (!scanner.complete) return at;
    const head = new AnswerHead(scanner.text);
    if (head.status < 200) {
      // Nothing was asked for that another protocol could be spoken on.
      if (head.status === 101) throw new BrokenAnswer('ERR_UPGRADE', 'the server wants to speak another protocol');
      if (++this.#informational > MAX_INFORMATIONAL)
        throw new BrokenAnswer('ERR_INFORMATIONAL', `more than ${MAX_INFORMATIONAL} informational answers`);
      this.#scanner = new HeadScanner('head');
      return at;
    }
    this.#scanner = undefined;
    const framing = head.framing(this.#method);
    this.keeps = framing !== UNTIL_CLOSE && head.keeps(this.#method);
    if (this.keeps) this.keptMs = head.keptMs();
    if (framing === CHUNKED) this.#chunks = new ChunkedBody();
    else this.#left = framing;
    this.complete = framing === 0;
    this.#sink.onHead(head);
    return at;
  }
}

/** How the end of a body is found, where it is not a number of bytes. */
const CHUNKED = -1;
const UNTIL_CLOSE = -2;
/** How a field begins that says whether a connection is kept. No value holds a line feed. */
const CONNECTION = '\nconnection:';

/** The names that framing depends on are looked for in the head as it lies. */
export class AnswerHead {
  readonly status: number;
  readonly #text: string;
  /** The same characters at the same places: in Latin-1 no letter grows. */
  readonly #lower: string;

  constructor(text: string) {
    this.#text = text;
    this.#lower = text.toLowerCase();
    this.status = Number(text.slice(9, 12));
  }

  /** The value of the first field with this name (lower case), without the blanks around it. */
  header(name: string): string | undefined {
    const before = this.#lower.indexOf(`\n${name}:`);
    if (before < 0) return undefined;
    const text = this.#text;
    let start = before + name.length + 2;
    let end = text.indexOf('\r', start);
    while (start < end && (text[start] === ' ' || text[start] === '\t')) start++;
    while (end > start && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--;
    return text.slice(start, end);
  }

  /**
   * Bytes of the body, `CHUNKED` or `UNTIL_CLOSE`. Refuses ambiguous framing: two lengths, a length together with
   * chunks, any coding but chunks. // RFC 9112 6.3
   */
  framing(method: string): number {
    const { status } = this;
    const length = this.#only('content-length');
    const coding = this.#only('transfer-encoding');
    if (length !== undefined && coding !== undefined)
      throw new BrokenAnswer('ERR_TWO_LENGTHS', 'an answer has both a length and chunks');
    if (coding !== undefined && coding.toLowerCase() !== 'chunked')
      throw new BrokenAnswer('ERR_TRANSFER_ENCODING', 'an answer is encoded as something else than chunks');
    const bytes = length === undefined ? UNTIL_CLOSE : Number(length);
    if (length !== undefined && !(/^\d{1,16}$/.test(length) && Number.isSafeInteger(bytes)))
      throw new BrokenAnswer('ERR_CONTENT_LENGTH', 'the length of an answer is no number');
    if (method === 'HEAD' || status === 204 || status === 304) return 0;
    return coding === undefined ? bytes : CHUNKED;
  }

  /** Whether the connection may serve another request, as far as the head says. // RFC 9112 9.3 */
  keeps(method: string): boolean {
    if (this.status === 204 || this.status === 304) {
      // A server that says so may send a body, too.
      if (this.header('transfer-encoding') !== undefined) return false;
      if (method !== 'HEAD' && Number(this.header('content-length') ?? 0) > 0) return false;
    }
    const old = this.#text.charCodeAt(7) === 0x30;
    if (old && this.header('transfer-encoding') !== undefined) return false;
    let kept = !old;
    const lower = this.#lower;
    for (let at = lower.indexOf(CONNECTION); at >= 0; at = lower.indexOf(CONNECTION, at + 1)) {
      const value = lower.slice(at + CONNECTION.length, lower.indexOf('\r', at));
      for (const token of value.split(',')) {
        const option = token.trim();
        if (option === 'close') return false;
        if (option === 'keep-alive') kept = true;
      }
    }
    return kept;
  }

  /** Milliseconds for which the server says that it keeps an idle connection. */
  keptMs(): number | undefined {
    const hint = this.header('keep-alive');
    const seconds = hint === undefined ? undefined : /timeout=\s{0,9}(\d{1,9})/i.exec(hint)?.[1];
    return seconds === undefined ? undefined : Number(seconds) * 1000;
  }

  /** `header`, where two fields with this name would be ambiguous. */
  #only(name: string): string | undefined {
    const line = `\n${name}:`;
    if (this.#lower.indexOf(line) !== this.#lower.lastIndexOf(line))
      throw new BrokenAnswer('ERR_TWO_LENGTHS', `an answer has two fields ${name}`);
    return this.header(name);
  }
}
