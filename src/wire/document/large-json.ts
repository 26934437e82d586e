import { NotAJsonObject, type Family, type WireDocument } from './document.ts';
import type { Json, JsonObject } from './json.ts';
import { PIECE } from './large-text.ts';
import {
  AmbiguousJson,
  MAX_DEPTH,
  MAX_VALUES,
  TooManyValues,
  type JsonNode,
  type Member,
  type ScanOptions,
  type StringNode,
  QUOTE,
  decoded,
  COMMA,
  COLON,
  OPEN_LIST,
  BACKSLASH,
  CLOSE_LIST,
  LETTER_U,
  OPEN_OBJECT,
  CLOSE_OBJECT,
  isDigit,
  isEnd,
  indexOf,
  plainValue,
} from './scan.ts';
import type { Steps } from './steps.ts';

/** Values and names beyond which no large text is read; numbers in lists, which cost little, are not among them. */
const MAX_VALUES_AND_NAMES = 150_000;
/** A request may have so many times more of them in the words of another family. */
const OWN_TIMES = 4;
/** No honest number is longer. */
const LONGEST_NUMBER = 4096;
/** No honest name is longer; each is looked up among others. */
const LONGEST_NAME = 65_536;
/** What lists the members of an object lists all at once. */
const MOST_MEMBERS = 20_000;
const VALUES_A_STEP = 256;

// oxlint-disable-next-line no-control-regex -- a string of JSON has none of these
const CONTROL = /[\0-\x1f]/;

/**
 * Like `readDocument`, in steps, and with lower bounds. `isOwn`: the gateway wrote the text from an inspected request.
 */
export function* readLarge(family: Family, text: string, options: ReadOptions = {}): Steps<WireDocument> {
  const { body, root } = yield* new Reader(text, options).document();
  if (root.kind !== 'object') throw new NotAJsonObject('the body is not a JSON object');
  return { family, text, body: body as JsonObject, root };
}

/** Like `scan`, of any JSON text, in steps. Throws `NotAJsonObject` for text that is not JSON. */
export function* readLargeRoot(text: string, options: ReadOptions = {}): Steps<JsonNode> {
  const { root } = yield* new Reader(text, options).document();
  return root;
}

interface ReadOptions extends ScanOptions {
  readonly isOwn?: boolean;
}

interface OpenObject {
  readonly start: number;
  readonly members: Member[];
  readonly value: Record<string, Json>;
  key: StringNode;
}

interface OpenList {
  readonly start: number;
  readonly items: JsonNode[];
  readonly value: Json[];
}

type Open = OpenObject | OpenList;

class Reader {
  readonly #text: string;
  readonly #lenient: boolean;
  readonly #times: number;
  readonly #open: Open[] = [];
  #at = 0;
  #values = 0;
  #counted = 0;
  /** The first quotation mark and the first backslash at or behind the cursor. */
  #quote = -1;
  #backslash = -1;
  /** Of the string that is read: where it begins, and its pieces if it has escapes. */
  #start = 0;
  #pieces: string[] | undefined;
  /** The last node read. */
  #node: JsonNode | undefined;
  #value: Json = null;

  constructor(text: string, { lenient = false, isOwn = false }: ReadOptions) {
    this.#text = text;
    this.#lenient = lenient;
    this.#times = isOwn ? OWN_TIMES : 1;
  }

  *document(): Steps<{ readonly body: Json; readonly root: JsonNode }> {
    while (!this.#blanks()) yield;
    for (let goesOn = true; goesOn;) {
      if (++this.#values % VALUES_A_STEP === 0) yield;
      this.#count();
      const code = this.#text.charCodeAt(this.#at);
      if (code === OPEN_OBJECT || code === OPEN_LIST) {
        this.#enter(code);
        while (!this.#blanks()) yield;
        const isEmpty = this.#text.charCodeAt(this.#at) === code + 2;
        if (!isEmpty) {
          if (code === OPEN_OBJECT) yield* this.#name();
          continue;
        }
        this.#leave();
      } else if (code === QUOTE) {
        this.#begin();
        while (!this.#piece()) yield;
        this.#string();
      } else this.#plain();
      goesOn = yield* this.#behind();
    }
    while (!this.#blanks()) yield;
    if (this.#at < this.#text.length || !this.#node) throw invalid();
    return { body: this.#value, root: this.#node };
  }

  /** Closes what ends behind a value. Whether another value follows. */
  *#behind(): Steps<boolean> {
    for (let top = this.#open.at(-1); top; top = this.#open.at(-1)) {
      this.#put(top);
      while (!this.#blanks()) yield;
      const code = this.#text.charCodeAt(this.#at);
      if (code === COMMA) {
        this.#at += 1;
        while (!this.#blanks()) yield;
        if ('members' in top) yield* this.#name();
        return true;
      }
      if (code !== ('members' in top ? CLOSE_OBJECT : CLOSE_LIST)) throw invalid();
      this.#leave();
    }
    return false;
  }

  #count(): void {
    const top = this.#open.at(-1);
    if (this.#open.length > MAX_DEPTH) throw new AmbiguousJson(`the JSON is nested deeper than ${MAX_DEPTH} levels`);
    const code = this.#text.charCodeAt(this.#at);
    const isListed = top !== undefined && 'items' in top && (isDigit(code) || code === 45);
    if (!isListed) this.#counted += 1;
    if (this.#counted > MAX_VALUES_AND_NAMES * this.#times || this.#values > MAX_VALUES * this.#times) {
      throw new TooManyValues(
        `a large JSON text has more than ${MAX_VALUES_AND_NAMES} values and names, or ${MAX_VALUES} including the numbers in its arrays`,
      );
    }
  }

  #enter(code: number): void {
    const start = this.#at;
    this.#open.push(
      code === OPEN_OBJECT ? { start, members: [], value: {}, key: NO_NAME } : { start, items: [], value: [] },
    );
    this.#at += 1;
  }

  #leave(): void {
    const top = this.#open.pop()!;
    const { start, value } = top;
    this.#at += 1;
    const end = this.#at;
    this.#value = value;
    this.#node =
      'members' in top
        ? { kind: 'object', start, end, members: top.members }
        : { kind: 'array', start, end, items: top.items };
  }

  #put(top: Open): void {
    const node = this.#node!;
    if ('items' in top) {
      top.items.push(node);
      top.value.push(this.#value);
      return;
    }
    const { key, members, value } = top;
    members.push({ key, value: node });
    if (key.value === '__proto__') {
      Object.defineProperty(value, key.value, { ...OWN_MEMBER, value: this.#value });
    } else value[key.value] = this.#value;
  }

  *#name(): Steps<void> {
    if (this.#text.charCodeAt(this.#at) !== QUOTE) throw invalid();
    this.#begin();
    while (!this.#piece()) yield;
    const key = this.#string();
    const top = this.#open.at(-1) as OpenObject;
    if (key.value.length > LONGEST_NAME)
      throw new TooManyValues(`a field name in the JSON has more than ${LONGEST_NAME} characters`);
    if (!this.#lenient && top.members.length === MOST_MEMBERS)
      throw new TooManyValues(`an object in the JSON has more than ${MOST_MEMBERS} fields`);
    if (!this.#lenient && Object.hasOwn(top.value, key.value)) {
      throw new AmbiguousJson('an object in the JSON has the same field twice');
    }
    top.key = key;
    this.#counted += 1;
    while (!this.#blanks()) yield;
    if (this.#text.charCodeAt(this.#at) !== COLON) throw invalid();
    this.#at += 1;
    while (!this.#blanks()) yield;
  }

  #begin(): void {
    this.#start = this.#at++;
    this.#pieces = undefined;
  }

  /** Reads on in a string. Whether its end is reached. */
  #piece(): boolean {
    const text = this.#text;
    const from = this.#at;
    if (this.#quote < from) this.#quote = indexOf(text, '"', from);
    if (this.#backslash < from) this.#backslash = indexOf(text, '\\', from);
    const most = Math.min(text.length, from + PIECE);
    const plainEnd = Math.min(most, this.#quote);
    let at = plainEnd;
    if (this.#backslash < plainEnd) {
      at = this.#backslash;
      while (at < most) {
        const code = text.charCodeAt(at);
        if (code === QUOTE) break;
        at += code === BACKSLASH ? (text.charCodeAt(at + 1) === LETTER_U ? 6 : 2) : 1;
      }
    }
    const piece = text.slice(from, at);
    if (this.#backslash < at) {
      this.#pieces ??= [text.slice(this.#start + 1, from)];
      const read = decoded(piece);
      if (read === undefined) throw invalid();
      this.#pieces.push(read);
    } else {
      if (CONTROL.test(piece)) throw invalid();
      this.#pieces?.push(piece);
    }
    this.#at = at;
    if (at >= text.length) throw invalid();
    return text.charCodeAt(at) === QUOTE;
  }

  #string(): StringNode {
    const start = this.#start;
    const value = this.#pieces?.join('') ?? this.#text.slice(start + 1, this.#at);
    this.#at += 1;
    const node: StringNode = { kind: 'string', start, end: this.#at, value };
    this.#node = node;
    this.#value = value;
    return node;
  }

  #plain(): void {
    const text = this.#text;
    const start = this.#at;
    const most = start + LONGEST_NUMBER;
    let end = start;
    while (end < most && !isEnd(text.charCodeAt(end))) end += 1;
    if (end === most) throw new TooManyValues(`a number in the JSON has ${LONGEST_NUMBER} or more digits`);
    const source = text.slice(start, end);
    const value = plainValue(source);
    if (value === undefined) throw invalid();
    this.#value = value;
    this.#at = end;
    this.#node = { kind: typeof value === 'number' ? 'number' : 'literal', start, end, source };
  }

  /** Whether all blanks here were read. */
  #blanks(): boolean {
    const text = this.#text;
    let at = this.#at;
    const most = at + PIECE;
    for (; at < most; at += 1) {
      const code = text.charCodeAt(at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) break;
    }
    this.#at = at;
    return at < most;
  }
}

/** As members are that are set, where setting one would mean something else. */
const OWN_MEMBER = { enumerable: true, configurable: true, writable: true };
const NO_NAME: StringNode = { kind: 'string', start: 0, end: 0, value: '' };

function invalid(): NotAJsonObject {
  return new NotAJsonObject('the body is not valid JSON');
}
