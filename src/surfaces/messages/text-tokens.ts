import type { Slices } from '#/runtime/loop-slices.ts';

/**
 * A tokenizer's time grows with the square of a word that has no end: texts are cut into pieces of this many UTF-16
 * code units, between words where there are any.
 */
const PIECE_UNITS = 256;
/** Counted between two slices of the event loop: some milliseconds at worst. */
const TURN_UNITS = 4096;
/** Counted at all; the rest of longer texts is taken to be like it. */
const COUNTED_UNITS = 1_048_576;

let tokenizer: Promise<(text: string) => number> | undefined;

/**
 * Tokens of these texts by a common vocabulary (o200k), in slices that leave the event loop to others: those of the call,
 * if its texts are large.
 */
export async function textTokens(texts: readonly string[], slices?: Slices): Promise<number> {
  const count = await (tokenizer ??= loadTokenizer());
  const units = texts.reduce((sum, text) => sum + text.length, 0);
  let tokens = 0;
  let counted = 0;
  let turnEnds = TURN_UNITS;
  for (const text of texts) {
    for (let at = 0; at < text.length && counted < COUNTED_UNITS;) {
      const end = pieceEnd(text, at);
      tokens += count(text.slice(at, end));
      counted += end - at;
      at = end;
      if (counted < turnEnds) continue;
      turnEnds = counted + TURN_UNITS;
      if (slices) await slices.next();
      else await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return counted < units ? Math.ceil((tokens / counted) * units) : tokens;
}

/** Where the piece that begins at `at` ends: before a word, or at least not inside a surrogate pair. */
function pieceEnd(text: string, at: number): number {
  const end = at + PIECE_UNITS;
  if (end >= text.length) return text.length;
  const space = text.lastIndexOf(' ', end);
  if (space > at + PIECE_UNITS / 2) return space;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
}

/** Loaded when first needed: the vocabulary takes a fifth of a second and tens of megabytes. */
async function loadTokenizer(): Promise<(text: string) => number> {
  const { countTokens, setMergeCacheSize } = await import('gpt-tokenizer/encoding/o200k_base');
  // Words of a request are not kept for the next one.
  setMergeCacheSize(0);
  // What looks like a control token is text like any other.
  const options = { disallowedSpecial: new Set<string>() };
  return (text) => countTokens(text, options);
}
