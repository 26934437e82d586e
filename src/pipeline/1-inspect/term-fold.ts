/** A text as terms are looked for in it, and where each of its code units came from. */
export interface FoldedText {
  readonly text: string;
  /** For each code unit of `text`, where its character starts in the original. */
  readonly starts: ArrayLike<number>;
  /** For each code unit of `text`, where its character ends in the original. */
  readonly ends: ArrayLike<number>;
}

const INVISIBLE = /^\p{Default_Ignorable_Code_Point}$/u;
const BLANK = /^\s$/u;
const PLAIN = /^[\x21-\x7e]*(?: [\x21-\x7e]+)*$/;

/**
 * Folds what reads the same into one spelling: case, composed and decomposed letters, full-width and other compatible
 * forms, any run of white space, characters nobody sees.
 */
export function foldForTerms(text: string): FoldedText {
  if (PLAIN.test(text))
    return { text: text.toLowerCase(), starts: positions(text.length), ends: positions(text.length, 1) };
  let folded = '';
  const starts: number[] = [];
  const ends: number[] = [];
  let at = 0;
  for (const character of text) {
    const end = at + character.length;
    if (BLANK.test(character)) {
      if (folded.endsWith(' ')) ends[ends.length - 1] = end;
      else {
        folded += ' ';
        starts.push(at);
        ends.push(end);
      }
    } else if (!INVISIBLE.test(character)) {
      const plain = character.normalize('NFKD').toLowerCase();
      folded += plain;
      for (let unit = 0; unit < plain.length; unit++) {
        starts.push(at);
        ends.push(end);
      }
    }
    at = end;
  }
  return { text: folded, starts, ends };
}

/** As many numbers, counted from `first`. */
function positions(length: number, first = 0): ArrayLike<number> {
  const numbers = new Uint32Array(length);
  for (let at = 0; at < length; at++) numbers[at] = at + first;
  return numbers;
}
