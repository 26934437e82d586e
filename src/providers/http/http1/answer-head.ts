import { BrokenAnswer, CutOff } from './broken-answer.ts';

/** Most bytes of a head, its line ends included; trailers may have as many again. */
const MAX_HEAD = 16 * 1024;
/** Most fields of a head. */
const MAX_FIELDS = 256;

/** Bytes of a field's name. // RFC 9110 5.6.2 */
const NAME = table((byte) => /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(byte)));
/** Bytes of a field's value and of a reason: no control but the tab. // RFC 9110 5.5 */
const VALUE = table((byte) => byte === 0x09 || (byte >= 0x20 && byte !== 0x7f));

function table(has: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => Number(has(byte)));
}

const CR = 0x0d;
const LF = 0x0a;
const COLON = 0x3a;
const VERSION = Buffer.from('HTTP/1.');
/** `HTTP/1.1 200`: parts at fixed positions. */
const STATUS_LENGTH = 12;

const STATUS = 0;
const REASON = 1;
const LINE_END = 2;
const LINE = 3;
const FIELD_NAME = 4;
const FIELD_VALUE = 5;
const LAST_END = 6;
const DONE = 7;

/** How the end of a body is found, where it is not a number of bytes. */
export const CHUNKED = -1;
export const UNTIL_CLOSE = -2;
/** How a field begins that says whether a connection is kept. No value holds a line feed. */
const CONNECTION = '\nconnection:';

/**
 * Reads a head, or trailers, wherever its bytes are cut: every byte once, and refuses bytes that are not allowed there.
 * Lines end with CRLF; none is folded, no blank stands before a colon. // RFC 9112 2.2, 5.1, 5.2
 * The names that framing depends on are looked for in the head as it lies.
 */
export class AnswerHead {
  complete = false;
  /** Once it is complete. */
  status = 0;
  /** The whole head with its empty line, a character a byte. */
  #text = '';
  /** The same characters at the same places, once it is complete: in Latin-1 no letter grows. */
  #lower = '';
  #state: number;
  /** Bytes of the status line so far. */
  #column = 0;
  #size = 0;
  #fields = 0;

  constructor(of: 'head' | 'trailers') {
    this.#state = of === 'head' ? STATUS : LINE;
  }

  /** Reads on; returns where it stopped: behind the head, or at the end of the bytes. Throws `BrokenAnswer` or `CutOff`. */
  scan(bytes: Buffer, from: number): number {
    const room = from + MAX_HEAD - this.#size;
    const to = Math.min(bytes.length, room);
    let at = from;
    let state = this.#state;
    while (at < to && state !== DONE) {
      const byte = bytes[at]!;
      at++;
      switch (state) {
        case FIELD_NAME:
          if (byte === COLON) state = FIELD_VALUE;
          else if (NAME[byte] === 0) throw new BrokenAnswer('ERR_FIELD_NAME', 'a field has an invalid name');
          break;
        case FIELD_VALUE:
        case REASON: {
          let value = byte;
          while (VALUE[value] !== 0 && at < to) value = bytes[at++]!;
          if (value === CR) state = LINE_END;
          else if (VALUE[value] === 0) throw new BrokenAnswer('ERR_FIELD_VALUE', 'a control character in a head');
          break;
        }
        case LINE:
          if (byte === CR) {
            state = LAST_END;
            break;
          }
          if (NAME[byte] === 0) throw new BrokenAnswer('ERR_FIELD_NAME', 'a field has an invalid name');
          if (++this.#fields > MAX_FIELDS) {
            throw new CutOff('ERR_HEAD_TOO_LONG', `a head has ${MAX_FIELDS} fields at most`);
          }
          state = FIELD_NAME;
          break;
        case STATUS:
          state = this.#statusByte(byte);
          break;
        default:
          if (byte !== LF) throw new BrokenAnswer('ERR_LINE_END', 'a line of a head does not end with CRLF');
          state = state === LINE_END ? LINE : DONE;
      }
    }
    this.#state = state;
    this.#text += bytes.toString('latin1', from, at);
    this.#size += at - from;
    if (state === DONE) {
      this.complete = true;
      this.#lower = this.#text.toLowerCase();
      this.status = Number(this.#text.slice(9, 12));
    } else if (at === room) throw new CutOff('ERR_HEAD_TOO_LONG', `a head is ${MAX_HEAD} bytes long at most`);
    return at;
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
    for (const name of ['content-length', 'transfer-encoding']) {
      const line = `\n${name}:`;
      if (this.#lower.indexOf(line) !== this.#lower.lastIndexOf(line))
        throw new BrokenAnswer('ERR_TWO_LENGTHS', `an answer has two fields ${name}`);
    }
    const length = this.header('content-length');
    const coding = this.header('transfer-encoding');
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

  /** `HTTP/1.1 200`, then a blank and a reason, or the end of the line. // RFC 9112 4 */
  #statusByte(byte: number): number {
    const column = this.#column++;
    if (column === STATUS_LENGTH) {
      if (byte === 0x20) return REASON;
      if (byte === CR) return LINE_END;
    } else if (
      column < VERSION.length
        ? byte === VERSION[column]
        : column === 7
          ? byte === 0x30 || byte === 0x31
          : column === 8
            ? byte === 0x20
            : byte >= (column === 9 ? 0x31 : 0x30) && byte <= 0x39
    ) {
      return STATUS;
    }
    throw new BrokenAnswer('ERR_STATUS_LINE', 'the first line is no status line of HTTP/1.1');
  }
}
