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
