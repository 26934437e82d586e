import { isArray, isObject, type Check } from './check.ts';

/** A keyword that is wrong, at its schema. */
export class KeywordFault extends Error {
  override readonly name = 'KeywordFault';
}

export type Schema = Readonly<Record<string, unknown>>;

/** Makes the check of a keyword; undefined: another keyword has it. Throws `KeywordFault` or `PatternFault`. */
export type Keyword = (value: unknown, schema: Schema, inner: Inner) => Check | undefined;

/** Compiles a schema within a schema. `steps`: from the outer one to it. */
export type Inner = (schema: unknown, ...steps: readonly string[]) => Check;

/** A list of texts that a keyword has. */
export function textsOf(value: unknown): readonly string[] {
  if (isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw new KeywordFault('must be a list of strings');
}

/** The schemas that a keyword has by name. */
export function schemasOf(value: unknown): readonly (readonly [string, unknown])[] {
  if (isObject(value)) return Object.entries(value);
  throw new KeywordFault('must be an object of schemas');
}

/** The schemas that a keyword has in a list. */
export function schemaList(value: unknown): readonly unknown[] {
  if (isArray(value) && value.length > 0) return value;
  throw new KeywordFault('must be a list of schemas');
}

export function wholeNumber(value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new KeywordFault('must be a whole number');
}

export function finite(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new KeywordFault('must be a number');
}
