import { BrokenAnswer } from './broken-answer.ts';

/** How the end of a body is found, where it is not a number of bytes. */
export const CHUNKED = -1;
export const UNTIL_CLOSE = -2;

/** The names that framing depends on are looked for once each, in the head as it lies. */
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
    const at = this.#next(name, 0);
    return at < 0 ? undefined : valueAt(this.#text, at);
  }

  /**
   * Bytes of the body, `CHUNKED` or `UNTIL_CLOSE`. What could be read in two ways is refused: two lengths, a length beside
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
    const bytes = length === undefined ? undefined : lengthOf(length);
    if (method === 'HEAD' || status === 204 || status === 304) return 0;
    if (coding !== undefined) return CHUNKED;
    return bytes ?? UNTIL_CLOSE;
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
    for (let at = this.#next('connection', 0); at >= 0; at = this.#next('connection', at)) {
      for (const token of valueAt(this.#lower, at).split(',')) {
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

  #only(name: string): string | undefined {
    const at = this.#next(name, 0);
    if (at < 0) return undefined;
    if (this.#next(name, at) >= 0) throw new BrokenAnswer('ERR_TWO_LENGTHS', `an answer has two fields ${name}`);
    return valueAt(this.#text, at);
  }

  /** Where the value of the next field with this name begins; no value holds a line feed. */
  #next(name: string, from: number): number {
    const at = this.#lower.indexOf(`\n${name}:`, from);
    return at < 0 ? -1 : at + name.length + 2;
  }
}

function valueAt(text: string, from: number): string {
  let start = from;
  let end = text.indexOf('\r', from);
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}

function lengthOf(value: string): number {
  const bytes = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(bytes))
    throw new BrokenAnswer('ERR_CONTENT_LENGTH', 'the length of an answer is no number');
  return bytes;
}
