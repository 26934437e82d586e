/** One server-sent event as it came: the decoded data, and the exact text including its closing blank line. */
export interface SseEvent {
  readonly event: string | undefined;
  /** Data lines joined by a line feed; undefined for an event without data (a comment, a bare id). */
  readonly data: string | undefined;
  readonly raw: string;
}

/** An event larger than the decoder's limit. */
export class SseEventTooLarge extends Error {
  override readonly name = 'SseEventTooLarge';
  /** In UTF-16 code units. */
  readonly limit: number;

  constructor(limit: number) {
    super(`an event is longer than ${limit} characters`);
    this.limit = limit;
  }
}

/**
 * Cuts a byte stream into server-sent events, whatever way it was split: inside a UTF-8 sequence, between CR
 * and LF, in a field name. Line ends may be LF, CRLF or CR.
 */
export class SseDecoder {
  readonly #utf8 = new TextDecoder('utf-8', { ignoreBOM: false });
  readonly #limit: number;
  #rest = '';
  /** How far `#rest` was searched for a blank line. */
  #searched = 0;
  /** Pieces of an event that has not ended: a large event is joined once, not with every piece. */
  #pieces: string[] = [];
  #tail = '';
  #length = 0;

  /** `limit`: most UTF-16 code units an event may have. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The events completed by these bytes. Throws `SseEventTooLarge`. */
  push(bytes: Uint8Array): SseEvent[] {
    const text = this.#utf8.decode(bytes, { stream: true });
    // A blank line can still form from the last three characters (CR LF CR | LF).
    const window = this.#tail + text;
    this.#tail = window.slice(-OVERLAP);
    this.#pieces.push(text);
    this.#length += text.length;
    if (this.#length <= this.#limit && !holdsEnd(window)) return [];
    this.#join(window.length);
    return this.#take(false);
  }

  /** The events left when the stream has ended: a last one may lack its blank line. */
  end(): SseEvent[] {
    this.#pieces.push(this.#utf8.decode());
    this.#join(Infinity);
    const events = this.#take(true);
    if (this.#rest.trim() !== '') events.push(readEvent(this.#rest));
    this.#rest = '';
    return events;
  }

  #take(atEnd: boolean): SseEvent[] {
    const events: SseEvent[] = [];
    let start = 0;
    let at = this.#searched;
    const hasCarriage = this.#rest.includes('\r');
    for (;;) {
      const end = hasCarriage ? endOfAnyEvent(this.#rest, at, atEnd) : endOfEvent(this.#rest, at);
      if (end < 0) break;
      if (end - start > this.#limit) throw new SseEventTooLarge(this.#limit);
      events.push(readEvent(this.#rest.slice(start, end)));
      start = at = end;
    }
    this.#rest = start === 0 ? this.#rest : this.#rest.slice(start);
    if (this.#rest.length > this.#limit) throw new SseEventTooLarge(this.#limit);
    this.#searched = Math.max(0, this.#rest.length - OVERLAP);
    this.#tail = this.#rest.slice(-OVERLAP);
    this.#length = this.#rest.length;
    return events;
  }

  /** `unsearched`: so many of the last characters may hold the end of an event. */
  #join(unsearched: number): void {
    this.#rest += this.#pieces.join('');
    this.#pieces = [];
    this.#searched = Math.max(0, Math.min(this.#searched, this.#rest.length), this.#rest.length - unsearched);
  }
}

/** Characters of a blank line, but one. */
const OVERLAP = 3;

function holdsEnd(text: string): boolean {
  return (text.includes('\r') ? endOfAnyEvent(text, 0, false) : endOfEvent(text, 0)) >= 0;
}

/** Offset after the blank line that closes the event, or -1, in text whose lines end with LF. */
function endOfEvent(text: string, from: number): number {
  const lineFeed = text.indexOf('\n\n', from);
  return lineFeed < 0 ? -1 : lineFeed + 2;
}

/** The same whatever lines end with. A CR at the very end may be half of a CRLF: wait for more. */
function endOfAnyEvent(text: string, from: number, atEnd: boolean): number {
  for (let at = from; at < text.length; at++) {
    const first = lineEnd(text, at, atEnd);
    if (first === 0) continue;
    if (first < 0) return -1;
    const second = lineEnd(text, at + first, atEnd);
    if (second > 0) return at + first + second;
    if (second < 0) return -1;
    at += first - 1;
  }
  return -1;
}

/** Length of the line end at `at` (0: none, -1: undecided because the text stops after a CR). */
function lineEnd(text: string, at: number, atEnd: boolean): number {
  const code = text.charCodeAt(at);
  if (code === 10) return 1;
  if (code !== 13) return 0;
  if (at + 1 === text.length) return atEnd ? 1 : -1;
  return text.charCodeAt(at + 1) === 10 ? 2 : 1;
}

function readEvent(raw: string): SseEvent {
  return readCommon(raw) ?? readLines(raw);
}

/** The common event of every vendor: one data line, below a name or not. Undefined for any other. */
function readCommon(raw: string): SseEvent | undefined {
  const isNamed = raw.startsWith('event:');
  const at = isNamed ? raw.indexOf('\n') + 1 : 0;
  const end = raw.length - 2;
  if (!raw.startsWith('data:', at) || raw.indexOf('\n', at) !== end || raw.includes('\r')) return undefined;
  const event = isNamed ? valueOf(raw, 'event:'.length, at - 1) : undefined;
  return { event, data: valueOf(raw, at + 'data:'.length, end), raw };
}

/** The value of a field after its colon, without a leading blank. */
function valueOf(raw: string, from: number, to: number): string {
  return raw.slice(raw.charCodeAt(from) === 32 ? from + 1 : from, to);
}

function readLines(raw: string): SseEvent {
  let event: string | undefined;
  let data: string | undefined;
  for (const line of raw.split(/\r\n|\r|\n/)) {
    const colon = line.indexOf(':');
    if (colon === 0 || line === '') continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`;
    else if (field === 'event') event = value;
  }
  return { event, data, raw };
}

/** Writes an event with its data, a line each, and, if named, its event line. A CR ends a line, too. */
export function writeEvent(data: string, event?: string): string {
  const lines = data.includes('\n') || data.includes('\r') ? data.replaceAll(/\r\n|\r|\n/g, '\ndata: ') : data;
  return event === undefined ? `data: ${lines}\n\n` : `event: ${event}\ndata: ${lines}\n\n`;
}
