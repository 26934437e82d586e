import type { Json } from './json.ts';

/**
 * Positions of every value in a JSON text, so that edits can be spliced into the original instead of
 * re-serialising it. The text must already have been accepted by `JSON.parse`.
 */
export type JsonNode = StringNode | ObjectNode | ArrayNode | PlainNode;

export interface StringNode {
  readonly kind: 'string';
  /** Offset of the opening quote. */
  readonly start: number;
  /** Offset after the closing quote. */
  readonly end: number;
  /** The decoded value. */
  readonly value: string;
}

export interface ObjectNode {
  readonly kind: 'object';
  readonly start: number;
  readonly end: number;
  readonly members: readonly Member[];
}

export interface Member {
  readonly key: StringNode;
  readonly value: JsonNode;
}

export interface ArrayNode {
  readonly kind: 'array';
  readonly start: number;
  readonly end: number;
  readonly items: readonly JsonNode[];
}

/** A number, `true`, `false` or `null`, as written. */
interface PlainNode {
  readonly kind: 'number' | 'literal';
  readonly start: number;
  readonly end: number;
  readonly source: string;
}

/**
 * A JSON text that parsers disagree about: a member named twice (one parser reads the first, another the last,
 * so inspecting one would let the other leave) or nesting deeper than any provider accepts.
 */
export class AmbiguousJson extends Error {
  override readonly name = 'AmbiguousJson';
}

/** A JSON text with more values than any honest request: each is remembered with its position. */
export class TooManyValues extends Error {
  override readonly name = 'TooManyValues';
}

/** How a text is scanned. `lenient`: a member named twice is kept twice, for texts that are only read, not routed by. */
export interface ScanOptions {
  readonly lenient?: boolean;
}

export const MAX_DEPTH = 256;
export const MAX_VALUES = 250_000;
const LINEAR_SEARCH_MEMBERS = 12;

/**
 * Scans a JSON text once. Throws `AmbiguousJson` or `TooManyValues`; anything else is the caller's promise that
 * `JSON.parse` accepted it.
 */
export function scan(text: string, options?: ScanOptions): JsonNode {
  return scanAll(text, options).root;
}

/** As `scan`, and whether any member's name is written with an escape. */
export function scanAll(
  text: string,
  { lenient = false }: ScanOptions = {},
): { root: JsonNode; escapedNames: boolean } {
  const scanner = new Scanner(text, lenient);
  return { root: scanner.value(0), escapedNames: scanner.escapedNames };
}

/** The value of a node, as `JSON.parse` would read its text. */
export function valueOf(node: JsonNode): Json {
  switch (node.kind) {
    case 'string':
      return node.value;
    case 'array':
      return node.items.map(valueOf);
    case 'object':
      return Object.fromEntries(node.members.map(({ key, value }) => [key.value, valueOf(value)]));
    case 'number':
    case 'literal':
      return JSON.parse(node.source) as Json;
  }
}

/** The value of a member, or undefined. */
export function member(node: JsonNode | undefined, name: string): JsonNode | undefined {
  if (node?.kind !== 'object') return undefined;
  for (const entry of node.members) if (entry.key.value === name) return entry.value;
  return undefined;
}

class Scanner {
  escapedNames = false;
  readonly #text: string;
  readonly #lenient: boolean;
  #at = 0;
  #values = 0;
  /** Offset of the first backslash at or after the cursor: strings before it need no decoding. */
  #backslash: number;

  constructor(text: string, lenient: boolean) {
    this.#text = text;
    this.#lenient = lenient;
    const backslash = text.indexOf('\\');
    this.#backslash = backslash < 0 ? text.length : backslash;
    if (text.charCodeAt(0) <= 32) this.#blanks();
  }

  value(depth: number): JsonNode {
    if (++this.#values > MAX_VALUES) throw new TooManyValues(`the JSON has more than ${MAX_VALUES} values`);
    if (depth > MAX_DEPTH) throw new AmbiguousJson(`the JSON is nested deeper than ${MAX_DEPTH} levels`);
    const code = this.#text.charCodeAt(this.#at);
    if (code === QUOTE) return this.#string();
    if (code === OPEN_OBJECT) return this.#object(depth);
    if (code === OPEN_LIST) return this.#array(depth);
    return this.#plain(code);
  }

  #string(): StringNode {
    const text = this.#text;
    const start = this.#at;
    let close = text.indexOf('"', start + 1);
    if (this.#backslash < start) this.#backslash = indexOf(text, '\\', start);
    if (this.#backslash > close) {
      this.#at = close + 1;
      return { kind: 'string', start, end: close + 1, value: text.slice(start + 1, close) };
    }
    while (isEscaped(text, start, close)) close = text.indexOf('"', close + 1);
    this.#at = close + 1;
    return { kind: 'string', start, end: close + 1, value: JSON.parse(text.slice(start, close + 1)) as string };
  }

  #object(depth: number): ObjectNode {
    const start = this.#at++;
    const members: Member[] = [];
    if (this.#text.charCodeAt(this.#at) <= 32) this.#blanks();
    let names: Set<string> | undefined;
    while (this.#text.charCodeAt(this.#at) !== CLOSE_OBJECT) {
      const key = this.#string();
      if (key.end - key.start - 2 !== key.value.length) this.escapedNames = true;
      if (!this.#lenient) {
        if (members.length >= LINEAR_SEARCH_MEMBERS) names = refuseDuplicate(members, names, key.value);
        else for (const one of members) if (one.key.value === key.value) throw duplicate();
      }
      if (this.#text.charCodeAt(this.#at) <= 32) this.#blanks();
      this.#at++;
      if (this.#text.charCodeAt(this.#at) <= 32) this.#blanks();
      members.push({ key, value: this.value(depth + 1) });
      if (this.#text.charCodeAt(this.#at) <= 32) this.#blanks();
      if (this.#text.charCodeAt(this.#at) !== COMMA) continue;
      this.#at++;
      if (this.#text.charCodeAt(this.#at) <= 32) this.#blanks();
    }
    this.#at++;
    return { kind: 'object', start, end: this.#at, members };
  }

  #array(depth: number): ArrayNode {
    const start = this.#at++;
    const items: JsonNode[] = [];
    if (this.#text.charCodeAt(this.#at) <= 32) this.#blanks();
    while (this.#text.charCodeAt(this.#at) !== CLOSE_LIST) {
      items.push(this.value(depth + 1));
      if (this.#text.charCodeAt(this.#at) <= 32) this.#blanks();
      if (this.#text.charCodeAt(this.#at) !== COMMA) continue;
      this.#at++;
      if (this.#text.charCodeAt(this.#at) <= 32) this.#blanks();
    }
    this.#at++;
    return { kind: 'array', start, end: this.#at, items };
  }

  #plain(first: number): PlainNode {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    let code: number;
    // Not past the end of the text, where the code is no number.
    do code = text.charCodeAt(++at);
    while (code > 32 && code !== COMMA && code !== CLOSE_LIST && code !== CLOSE_OBJECT);
    this.#at = at;
    const kind = first === 45 || (first >= 48 && first <= 57) ? 'number' : 'literal';
    return { kind, start, end: at, source: text.slice(start, at) };
  }

  #blanks(): void {
    while (this.#text.charCodeAt(this.#at) <= 32) this.#at++;
  }
}

function isEscaped(text: string, start: number, quote: number): boolean {
  let at = quote - 1;
  while (at > start && text.charCodeAt(at) === BACKSLASH) at--;
  return (quote - at) % 2 === 0;
}

function refuseDuplicate(members: readonly Member[], names: Set<string> | undefined, name: string): Set<string> {
  const known = names ?? new Set(members.map((entry) => entry.key.value));
  if (known.has(name)) throw duplicate();
  return known.add(name);
}

function duplicate(): AmbiguousJson {
  return new AmbiguousJson('an object in the JSON has the same field twice');
}

/** Signs of JSON, by their code units. */
export const QUOTE = 34;
export const COMMA = 44;
export const COLON = 58;
export const OPEN_LIST = 91;
export const BACKSLASH = 92;
export const CLOSE_LIST = 93;
export const LETTER_U = 117;
export const OPEN_OBJECT = 123;
export const CLOSE_OBJECT = 125;

/** What ends a number or a word. */
export function isEnd(code: number): boolean {
  return code === COMMA || code === CLOSE_LIST || code === CLOSE_OBJECT || code <= 32 || Number.isNaN(code);
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** As `String.indexOf`; the end of the text where the sign is not in it. */
export function indexOf(text: string, sign: string, from: number): number {
  const at = text.indexOf(sign, from);
  return at < 0 ? text.length : at;
}

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** What a number, `true`, `false` or `null` says; undefined for anything else. */
export function plainValue(source: string): number | boolean | null | undefined {
  if (NUMBER.test(source)) return Number(source);
  if (source === 'null') return null;
  return source === 'true' ? true : source === 'false' ? false : undefined;
}

/** What the source of a string, without its quotation marks, says; undefined where it is not valid. */
export function decoded(source: string): string | undefined {
  try {
    return JSON.parse(`"${source}"`) as string;
  } catch {
    return undefined;
  }
}
