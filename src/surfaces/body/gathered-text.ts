import { isAscii, isUtf8 } from 'node:buffer';
import { GatewayError } from '#/errors/gateway-error.ts';
import { PIECE, valuesIn } from '#/wire/document/large-text.ts';

/** A character has at most this many bytes. */
const LONGEST = 4;
/** Bytes. Texts up to this size stay small in every form. */
export const COUNT_FROM = 16 * 1024;
/** Texts with more values are refused when they are read. */
const MOST_VALUES = 250_000;

/** A text in UTF-8 that comes in pieces, each decoded when it comes: to decode many bytes at once takes long. */
export class GatheredText {
  /** Whether all that came is ASCII. */
  isAscii = true;
  /** No fewer values of JSON than these are in it. */
  values = 0;
  readonly #texts: string[] = [];
  #length = 0;
  #isText = true;
  /** The beginning of a character that goes on in the next piece. */
  #rest: Buffer | undefined;

  add(bytes: Buffer): void {
    const piece = this.#rest ? Buffer.concat([this.#rest, bytes]) : bytes;
    const end = wholeUpTo(piece);
    this.#rest = end < piece.length ? piece.subarray(end) : undefined;
    const whole = end < piece.length ? piece.subarray(0, end) : piece;
    const ascii = isAscii(whole);
    if (!ascii) {
      this.isAscii = false;
      this.#isText &&= isUtf8(whole);
    }
    if (!this.#isText) return;
    const text = whole.toString(ascii ? 'latin1' : 'utf8');
    this.#texts.push(text);
    this.#length += text.length;
    if (this.#length > COUNT_FROM) this.values += valuesIn(text, MOST_VALUES - this.values);
  }

  /** Whether it takes long to make it whole. */
  get isLarge(): boolean {
    return this.#length > PIECE;
  }

  /** Throws `invalid_request` unless it is UTF-8 text. */
  whole(): string {
    if (!this.#isText || this.#rest) {
      throw new GatewayError('invalid_request', 'The request body is not valid UTF-8.');
    }
    const [first = ''] = this.#texts;
    return this.#texts.length <= 1 ? first : this.#texts.join('');
  }
}

/** Where the last character begins if not all of it is there; else the end. */
function wholeUpTo(bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= 0 && at >= bytes.length - LONGEST; at -= 1) {
    const byte = bytes[at]!;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : LONGEST;
    return at + length > bytes.length ? at : bytes.length;
  }
  return bytes.length;
}
