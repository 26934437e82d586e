import { AnswerHead } from './answer-head.ts';
import { BrokenAnswer } from './broken-answer.ts';

/** Maximum bytes of a chunk's extension, which is ignored. */
const MAX_EXTENSION = 1024;
/** Digits of a chunk's size: more bytes than any answer may have. */
const MAX_DIGITS = 12;

const CR = 0x0d;
const LF = 0x0a;

const SIZE = 0;
const EXTENSION = 1;
const SIZE_END = 2;
const DATA = 3;
const DATA_CR = 4;
const DATA_LF = 5;
const TRAILERS = 6;

/** Takes a body out of its chunks, wherever the bytes are cut. Extensions and trailers are checked and dropped. */
export class ChunkedBody {
  complete = false;
  #state = SIZE;
  #digits = 0;
  #extension = 0;
  /** Bytes of the current chunk that are still to come. */
  #left = 0;
  readonly #trailers = new AnswerHead('trailers');

  /** Reads on and gives data to `take`; returns where it stopped. Throws `BrokenAnswer` or `CutOff`. */
  read(bytes: Buffer, from: number, take: (data: Buffer) => void): number {
    let at = from;
    while (at < bytes.length && !this.complete) {
      switch (this.#state) {
        case DATA: {
          const end = Math.min(bytes.length, at + this.#left);
          this.#left -= end - at;
          if (this.#left === 0) this.#state = DATA_CR;
          take(bytes.subarray(at, end));
          at = end;
          break;
        }
        case TRAILERS:
          at = this.#trailers.scan(bytes, at);
          this.complete = this.#trailers.complete;
          break;
        default:
          this.#mark(bytes[at]!);
          at++;
      }
    }
    return at;
  }

  /** A byte that is no data. // RFC 9112 7.1 */
  #mark(byte: number): void {
    switch (this.#state) {
      case SIZE:
        return this.#size(byte);
      case EXTENSION:
        if (byte === CR) this.#state = SIZE_END;
        else if ((byte < 0x20 && byte !== 0x09) || byte === 0x7f || ++this.#extension > MAX_EXTENSION)
          throw new BrokenAnswer(
            'ERR_CHUNK_EXTENSION',
            `a chunk's extension is text of ${MAX_EXTENSION} bytes at most`,
          );
        return;
      case SIZE_END:
        expect(byte, LF);
        this.#state = this.#left === 0 ? TRAILERS : DATA;
        this.#digits = 0;
        this.#extension = 0;
        return;
      case DATA_CR:
        expect(byte, CR);
        this.#state = DATA_LF;
        return;
      default:
        expect(byte, LF);
        this.#state = SIZE;
    }
  }

  #size(byte: number): void {
    const digit = digitOf(byte);
    if (digit >= 0 && this.#digits < MAX_DIGITS) {
      this.#digits++;
      this.#left = this.#left * 16 + digit;
    } else if (this.#digits > 0 && byte === CR) this.#state = SIZE_END;
    else if (this.#digits > 0 && byte === 0x3b) this.#state = EXTENSION;
    else throw new BrokenAnswer('ERR_CHUNK_SIZE', `the size of a chunk is ${MAX_DIGITS} hexadecimal digits at most`);
  }
}

function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function expect(byte: number, wanted: number): void {
  if (byte !== wanted) throw new BrokenAnswer('ERR_CHUNK_END', 'a chunk does not end where its size says');
}
