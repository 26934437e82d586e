import { canonicalJson } from './canonical-json.ts';
import type { Json } from './json.ts';
import { isObject } from './json.ts';
import type { Steps } from './steps.ts';

const VALUES_A_STEP = 512;
/** Characters of texts in one step. */
const TEXT_A_STEP = 64 * 1024;

/** As `canonicalJson`, in steps: one for so many values, and for so much text. Throws RangeError as that does. */
export function* canonicalSteps(value: Json): Steps<string> {
  const writer = new Writer();
  yield* writer.write(value);
  yield;
  return writer.parts.join('');
}

class Writer {
  readonly parts: string[] = [];
  #left = VALUES_A_STEP;

  *write(value: Json): Steps<void> {
    this.#left -= 1 + (typeof value === 'string' ? (value.length / TEXT_A_STEP) * VALUES_A_STEP : 0);
    if (this.#left < 0) {
      this.#left = VALUES_A_STEP;
      yield;
    }
    if (Array.isArray(value)) yield* this.#list(value as readonly Json[]);
    else if (isObject(value)) yield* this.#object(value);
    else this.parts.push(canonicalJson(value));
  }

  *#list(items: readonly Json[]): Steps<void> {
    this.parts.push('[');
    let separator = '';
    for (const item of items) {
      this.parts.push(separator);
      separator = ',';
      yield* this.write(item);
    }
    this.parts.push(']');
  }

  *#object(object: Readonly<Record<string, Json | undefined>>): Steps<void> {
    const members = Object.entries(object)
      .map(([name, member]) => [name.toWellFormed(), member] as const)
      // The default order compares UTF-16 code units, as RFC 8785 asks.
      .sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
    this.parts.push('{');
    let separator = '';
    for (const [name, member] of members) {
      if (member === undefined) continue;
      this.parts.push(`${separator}${JSON.stringify(name)}:`);
      separator = ',';
      yield* this.write(member);
    }
    this.parts.push('}');
  }
}
