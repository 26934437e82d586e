/** An answer that would cost more memory than any normal one: a fault of the provider, and reading stops. */
export class AnswerOutOfBounds extends Error {
  override readonly name = 'AnswerOutOfBounds';
}

/** A text longer than this is counted before it is parsed: parsing is where tiny values cost most. */
export const COUNT_FROM = 1024 * 1024;
/**
 * Most of each character that a long JSON text may have. Commas: the vectors of a full batch of embeddings have six
 * million. Quotes and brackets: a picture, a film and a long text have few, and each costs an object or a name.
 */
const MOST: Readonly<Record<string, number>> = { ',': 8_000_000, '"': 2_000_000, '[': 500_000, '{': 500_000 };

/** Throws `AnswerOutOfBounds` for JSON text with so many values that parsing it would block all other calls. */
export function refuseCostlyJson(text: string): void {
  if (text.length <= COUNT_FROM) return;
  for (const character in MOST) {
    let left = MOST[character]!;
    for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) {
      if (--left < 0) throw new AnswerOutOfBounds('the JSON of the answer has too many values');
    }
  }
}

/** Most parts of one streamed answer: texts, tool calls, blocks. No model tells a thousandth of it. */
const MOST_PARTS = 10_000;

/** Throws `AnswerOutOfBounds` where an answer has come to so many parts. */
export function refuseManyParts(parts: number): void {
  if (parts > MOST_PARTS) throw new AnswerOutOfBounds(`the answer has more than ${MOST_PARTS} parts`);
}

/** Throws `AnswerOutOfBounds` where an answer has more choices than the request asked for. */
export function refuseUnasked(choices: number, asked: number): void {
  if (choices <= asked) return;
  throw new AnswerOutOfBounds(`the answer has more choices than the ${asked} that were asked for`);
}
