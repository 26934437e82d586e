import { Tokenizer as Published } from '@huggingface/tokenizers';
import { ModelFault } from './manifest.ts';

/** Cuts texts into numbered pieces, as a model's `tokenizer.json` has it. */
export interface Tokenizer {
  /** The pieces of a text, without marks at its ends. */
  readonly pieces: (text: string) => readonly number[];
  /** What the model wants before a text, and after it. */
  readonly begin: readonly number[];
  readonly end: readonly number[];
}

/** The library's types do not resolve as modules of ours: this is the used part. */
const Opened = Published as unknown as new (
  file: object,
  config: object,
) => { encode(text: string, options: { readonly add_special_tokens: boolean }): { readonly ids: readonly number[] } };

/** Opens the file of a tokenizer. Throws `ModelFault`. */
export function openTokenizer(bytes: Uint8Array): Tokenizer {
  try {
    const file = JSON.parse(new TextDecoder().decode(bytes)) as {
      readonly normalizer?: { readonly lowercase?: boolean } | null;
    };
    const tokenizer = new Opened(file, {});
    // In training letters become small one by one: a sigma at the end of a word too is the one of its middle.
    const small = file.normalizer?.lowercase === true;
    const cut = (text: string, marked: boolean): readonly number[] =>
      tokenizer.encode(small ? text.replaceAll('Σ', 'σ') : text, { add_special_tokens: marked }).ids;
    const marks = cut('', true);
    const half = Math.ceil(marks.length / 2);
    return { pieces: (text) => cut(text, false), begin: marks.slice(0, half), end: marks.slice(half) };
  } catch {
    throw new ModelFault('the tokenizer file is not a tokenizer');
  }
}

/** A text of so many pieces, marks included, to try a graph with. Throws `ModelFault` where the marks leave no room. */
export function longestText({ begin, end }: Tokenizer, most: number): readonly number[] {
  const mark = begin[0] ?? end[0];
  const room = most - begin.length - end.length;
  if (mark === undefined || room < 1) throw new ModelFault('the tokenizer has no special tokens, or too many');
  return [...begin, ...Array<number>(room).fill(mark), ...end];
}
