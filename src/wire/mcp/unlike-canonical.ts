/** Longer numbers may differ in digits that no double keeps. */
const MOST_DIGITS = 17;
/** A half of a pair of surrogates, which canonical JSON replaces. */
const LONE_SURROGATES = /\\u[dD][89a-fA-F]|[\ud800-\udfff]/;

/**
 * What canonical JSON does not keep of a JSON source, so that two sources with the same canonical form and the same list here
 * say the same: numbers beyond what a double holds, as they are written, and sources with halves of surrogate pairs.
 */
export function unlikeCanonical(source: string): readonly string[] {
  if (source === '') return [];
  const found: string[] = [];
  const look = (_name: string, value: unknown, context?: { readonly source?: string }): unknown => {
    const { source: written = '' } = context ?? {};
    if (typeof value === 'number' && !isExact(value, written)) found.push(written);
    return value;
  };
  JSON.parse(source, look);
  return LONE_SURROGATES.test(source) ? [...found, source] : found;
}

function isExact(value: number, written: string): boolean {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return false;
  return written.length <= MOST_DIGITS;
}
