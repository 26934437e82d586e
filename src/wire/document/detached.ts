import { isObject, type Json, type JsonObject } from './json.ts';
import { PIECE } from './large-text.ts';
import type { Steps } from './steps.ts';

const VALUES_A_STEP = 512;
/** V8 copies shorter parts of a text. */
const LEAST_SLICE = 13;

/** A copy of an object whose strings do not hold the text that they are parts of, in steps. */
export function* detached(object: JsonObject): Steps<JsonObject> {
  return (yield* new Copier().copy(object)) as JsonObject;
}

class Copier {
  #values = 0;

  *copy(value: Json): Steps<Json> {
    if (++this.#values % VALUES_A_STEP === 0) yield;
    if (typeof value === 'string') return value.length < LEAST_SLICE ? value : yield* this.#text(value);
    if (Array.isArray(value)) {
      const items: Json[] = [];
      for (const item of value as readonly Json[]) items.push(yield* this.copy(item));
      return items;
    }
    if (!isObject(value)) return value;
    const members: [string, Json][] = [];
    for (const [name, member] of Object.entries(value)) {
      if (member !== undefined) members.push([copyOf(name), yield* this.copy(member)]);
    }
    // As a parser does it: no name has a meaning.
    return Object.fromEntries(members);
  }

  *#text(text: string): Steps<string> {
    if (text.length <= PIECE) return copyOf(text);
    let copy = '';
    for (let at = 0; at < text.length; at += PIECE) {
      copy += copyOf(text.slice(at, at + PIECE));
      yield;
    }
    return copy;
  }
}

function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}
