import { isObject, type JsonObject } from './json.ts';
import {
  member,
  scanAll,
  TooManyValues,
  valueOf,
  type ArrayNode,
  type JsonNode,
  type ObjectNode,
  type ScanOptions,
  type StringNode,
} from './scan.ts';

/** A family that the hub translates: a conversation with a model. */
export type HubFamily = 'chat' | 'messages' | 'responses' | 'gemini' | 'converse';

/** A wire family: one vendor-defined request and answer format. Codecs belong to families, not to vendors. */
export type Family =
  | HubFamily
  | 'completions'
  | 'embeddings'
  | 'moderations'
  | 'rerank'
  | 'ocr'
  | 'images'
  | 'systemone'
  | 'decisions'
  | 'documents'
  | 'mcp'
  | 'passthrough';

/** Families of typed decisions: local models are asked in them. */
export const DECIDING: ReadonlySet<Family> = new Set<Family>(['systemone', 'decisions']);

/** A request or answer as it came over the wire: its text, and the same parsed and located. */
export interface WireDocument {
  readonly family: Family;
  readonly text: string;
  readonly body: JsonObject;
  /** Where every value of `body` sits in `text`. */
  readonly root: ObjectNode;
}

/**
 * A declared change to a document's text. Edits are positions in the original text, so that everything
 * not edited keeps its bytes: number spelling, key order, escapes, unknown members.
 */
export interface Edit {
  /** Offset of the first UTF-16 code unit replaced. */
  readonly start: number;
  /** Offset after the last UTF-16 code unit replaced; equal to `start` for an insertion. */
  readonly end: number;
  /** JSON source text put in its place. */
  readonly text: string;
}

/** A text that is not a JSON object. */
export class NotAJsonObject extends Error {
  override readonly name = 'NotAJsonObject';
}

/** A text this long is counted before it is parsed: parsing is where tiny values cost most. */
const COUNT_FROM = 1024 * 1024;
/** Prose has fewer commas and brackets than this in the largest body. */
const MAX_SIGNS = 2_000_000;

/**
 * Reads a document. Throws `NotAJsonObject`, `AmbiguousJson` where parsers could disagree on what it says, or
 * `TooManyValues`.
 */
export function readDocument(family: Family, text: string, options?: ScanOptions): WireDocument {
  if (text.length > COUNT_FROM) refuseTinyValues(text);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new NotAJsonObject('the body is not valid JSON');
  }
  if (!isObject(body)) throw new NotAJsonObject('the body is not a JSON object');
  return locate(family, text, body, options);
}

/** As `readDocument`, of a text that was parsed already: `body` is what it says. */
export function locate(family: Family, text: string, body: JsonObject, options?: ScanOptions): WireDocument {
  const { root, escapedNames } = scanAll(text, options);
  // V8's parser may take an escaped name for another one that it expects there, having seen it before: V8 compares the
  // text, not its meaning. The scanned value is right then.
  return { family, text, body: escapedNames ? (valueOf(root) as JsonObject) : body, root: root as ObjectNode };
}

/** Each value but the first stands behind one of these signs. */
const BEFORE_VALUES = [',', '[', '{'];

function refuseTinyValues(text: string): void {
  let count = 0;
  for (const sign of BEFORE_VALUES) {
    for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
      if (++count > MAX_SIGNS) throw new TooManyValues('the JSON has too many values');
    }
  }
}

/** Names of top-level members that are the gateway's own extension, which never leaves. // spec 1.8 */
export const EXTENSION = /^gw(?:\.|$)/;

/**
 * The original text with the edits spliced in; without edits, the same text. A removal includes the edits inside
 * it; throws a RangeError on edits that overlap in any other way.
 */
export function render(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  const ordered = edits.length === 1 ? edits : [...edits].sort(byPlace);
  let result = '';
  let at = 0;
  let removed = 0;
  for (const edit of ordered) {
    if (edit.start < removed && edit.end <= removed) continue;
    if (edit.start < at) throw new RangeError('edits overlap');
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
    if (edit.text === '') removed = at;
  }
  return result + text.slice(at);
}

/** Insertions before what replaces the text behind them, wide edits before narrow ones. */
function byPlace(a: Edit, b: Edit): number {
  if (a.start !== b.start) return a.start - b.start;
  return a.end === a.start || b.end === b.start ? a.end - b.end : b.end - a.end;
}

/** Replaces a value by another string. */
export function setString(node: JsonNode, value: string): Edit {
  return { start: node.start, end: node.end, text: JSON.stringify(value) };
}

/** Whether a value stands in the source of its string as it is, without escapes: then stretches of it are source, too. */
export function isSource(node: JsonNode, value: string): boolean {
  return node.kind === 'string' && node.end - node.start === value.length + 2 && node.value === value;
}

/** Sets a member of an object to JSON source text, adding it at the end when it is not there. */
export function setMember(object: ObjectNode, name: string, json: string): Edit {
  const present = member(object, name);
  if (present) return { start: present.start, end: present.end, text: json };
  const last = object.members.at(-1);
  const at = last ? last.value.end : object.start + 1;
  return { start: at, end: at, text: `${last ? ',' : ''}${JSON.stringify(name)}:${json}` };
}

/** Removes members of an object, each with one comma. */
export function removeMembers({ members }: ObjectNode, remove: (key: StringNode) => boolean): readonly Edit[] {
  return removals(
    members,
    ({ key }) => key.start,
    ({ value }) => value.end,
    ({ key }) => remove(key),
  );
}

/** Removes items of an array, each with one comma. */
export function removeItems({ items }: ArrayNode, remove: (item: JsonNode) => boolean): readonly Edit[] {
  return removals(
    items,
    (item) => item.start,
    (item) => item.end,
    remove,
  );
}

/** Removes items between commas; neighbours go in one edit. */
function removals<T>(
  list: readonly T[],
  startOf: (item: T) => number,
  endOf: (item: T) => number,
  remove: (item: T) => boolean,
): readonly Edit[] {
  const edits: Edit[] = [];
  for (let first = 0; first < list.length; first++) {
    if (!remove(list[first]!)) continue;
    let last = first;
    while (last + 1 < list.length && remove(list[last + 1]!)) last++;
    if (first > 0) edits.push({ start: endOf(list[first - 1]!), end: endOf(list[last]!), text: '' });
    else {
      const next = list[last + 1];
      edits.push({ start: startOf(list[0]!), end: next ? startOf(next) : endOf(list[last]!), text: '' });
    }
    // The one behind is known to stay.
    first = last + 1;
  }
  return edits;
}
