/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object with unknown members. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** Whether a text looks like JSON with escapes, in which words are spelt otherwise than they read. */
export function looksLikeEscapedJson(text: string): boolean {
  return text.includes('\\') && /^\s*[[{"]/.test(text);
}

/** Whether a parsed value is a JSON object (and not null or an array). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
