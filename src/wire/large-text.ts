/** So many code units of a text are worked on in one step. */
export const PIECE = 64 * 1024;

/** Which texts are worked on in steps: what is done at once holds up everything else. */
export function isLarge(text: string): boolean {
  return text.length > PIECE;
}
