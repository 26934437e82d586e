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

/**
 * Reads a head, or trailers, wherever its bytes are cut: every byte once, and refuses bytes that are not allowed there.
 * Lines end with CRLF; none is folded, no blank stands before a colon. // RFC 9112 2.2, 5.1, 5.2
 */
export class HeadScanner {
  /** The whole head with its empty line, a character a byte, once it is complete. */
  text = '';
  complete = false;
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
    this.complete = state === DONE;
    this.text += bytes.toString('latin1', from, at);
    this.#size += at - from;
    if (!this.complete && at === room) {
      throw new CutOff('ERR_HEAD_TOO_LONG', `a head is ${MAX_HEAD} bytes long at most`);
    }
    return at;
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
