import type { Json } from './json.ts';
import { PIECE } from './large-text.ts';
import type { Steps } from './steps.ts';

const VALUES_A_STEP = 512;

/** As `JSON.stringify`, in steps. */
export function* writeJson(value: Json): Steps<string> {
  const writer = new Writer();
  yield* writer.value(value);
  yield;
  return writer.parts.join('');
}

class Writer {
  readonly parts: string[] = [];
  #values = 0;

  *value(value: Json): Steps<void> {
    if (++this.#values % VALUES_A_STEP === 0) yield;
    if (typeof value === 'string' && value.length > PIECE) yield* this.#string(value);
    else if (typeof value !== 'object' || value === null) this.parts.push(JSON.stringify(value));
    else if (Array.isArray(value)) yield* this.#list(value as readonly Json[]);
    else yield* this.#object(value as Readonly<Record<string, Json | undefined>>);
  }

  *#string(text: string): Steps<void> {
    this.parts.push('"');
    for (let at = 0; at < text.length;) {
      let end = Math.min(at + PIECE, text.length);
      // Both halves of a character are written together: one alone is written as an escape.
      if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end += 1;
      this.parts.push(JSON.stringify(text.slice(at, end)).slice(1, -1));
      at = end;
      yield;
    }
    this.parts.push('"');
  }

  *#list(items: readonly Json[]): Steps<void> {
    this.parts.push('[');
    for (const [at, item] of items.entries()) {
      if (at > 0) this.parts.push(',');
      yield* this.value(item);
    }
    this.parts.push(']');
  }

  *#object(object: Readonly<Record<string, Json | undefined>>): Steps<void> {
    this.parts.push('{');
    let isFirst = true;
    for (const [name, value] of Object.entries(object)) {
      if (value === undefined) continue;
      this.parts.push(isFirst ? '' : ',', JSON.stringify(name), ':');
      isFirst = false;
      yield* this.value(value);
    }
    this.parts.push('}');
  }
}
