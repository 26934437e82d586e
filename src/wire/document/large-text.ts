/** So many code units of a text are worked on in one step. */
export const PIECE = 64 * 1024;

/** Texts to process in steps: processing them at once would delay all other calls. */
export function isLarge(text: string): boolean {
  return text.length > PIECE;
}

/** No fewer values than these are in a text of JSON that is not deeply nested; more than `most` are not counted. */
export function valuesIn(text: string, most: number): number {
  let commas = 0;
  for (let at = text.indexOf(','); at >= 0 && commas < most; at = text.indexOf(',', at + 1)) commas += 1;
  return commas;
}

/**
 * The same text in memory of its own. V8 keeps a slice of a longer text as a view of it, and so the whole text stays in
 * memory as long as the slice does.
 */
export function ownCopy(text: string): string {
  // Slicing a concatenation makes V8 write it out first.
  return ` ${text}`.slice(1);
}
