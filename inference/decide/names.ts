import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { ModelFault, WEIGHTS, type ModelFolder } from './manifest.ts';
import { readLists, type Lists } from './lists.ts';
import { createReadSpans, type FindNames } from './name-spans.ts';
import { createNumbers, NUMBERS, wordsOf, type Word } from './words.ts';
import { openSession, type Device } from './session.ts';

/** Words that the model looks at on each side of one; nothing further away changes what it says. */
const REACH = 8;
/** Of one run, context included. */
const MOST_WORDS = 4096;
/** Lists that a word may be in. */
const LISTS = 6;

/** Loads a verified folder of a model that takes hashed words. Throws `ModelFault` when its graph is not that of such a model. */
export async function loadNames(folder: ModelFolder, device?: Device): Promise<FindNames> {
  const { manifest, files } = folder;
  if (manifest.tokenizer.type !== 'hashed-words')
    throw new ModelFault('the input of a name model must be hashed words');
  const lists = readLists(files.get(manifest.tokenizer.lists)!);
  const session = await openSession(files.get(WEIGHTS)!, device);
  const numbersOf = createNumbers();
  const tags = manifest.labels;
  const spansOf = createReadSpans(manifest);
  if (!session.outputNames.includes('logits'))
    throw new ModelFault('the graph of a name model must have the output logits');
  return async (texts) => {
    const words = texts.map(wordsOf);
    const logits = words.map((list) => new Float32Array(list.length * tags.length));
    for (const run of runsOf(words)) await score(session, run, texts, words, logits, { lists, numbersOf, tags });
    return texts.map((text, at) => spansOf(text, words[at]!, logits[at]!));
  };
}

/** A stretch of words of one text, and where it stands in a run. `from` to `until` is what the run is asked about. */
interface Stretch {
  readonly text: number;
  readonly first: number;
  readonly last: number;
  readonly from: number;
  readonly until: number;
  readonly at: number;
}

/** Texts one after the other, far enough apart not to see each other; long ones in stretches that overlap. */
function runsOf(words: readonly (readonly Word[])[]): readonly (readonly Stretch[])[] {
  const runs: Stretch[][] = [];
  let run: Stretch[] = [];
  let size = 0;
  for (const [text, list] of words.entries()) {
    for (let from = 0; from < list.length; from += MOST_WORDS - 2 * REACH) {
      const until = Math.min(list.length, from + MOST_WORDS - 2 * REACH);
      const first = Math.max(0, from - REACH);
      const last = Math.min(list.length, until + REACH);
      if (size + last - first > MOST_WORDS && run.length > 0) {
        runs.push(run);
        run = [];
        size = 0;
      }
      run.push({ text, first, last, from, until, at: size });
      size += last - first + REACH;
    }
  }
  return run.length > 0 ? [...runs, run] : runs;
}

interface Reader {
  readonly lists: Lists;
  readonly numbersOf: (word: string) => readonly number[];
  readonly tags: readonly string[];
}

async function score(
  session: InferenceSession,
  run: readonly Stretch[],
  texts: readonly string[],
  words: readonly (readonly Word[])[],
  logits: readonly Float32Array[],
  { lists, numbersOf, tags }: Reader,
): Promise<void> {
  const lastOne = run.at(-1)!;
  const size = lastOne.at + lastOne.last - lastOne.first;
  const numbers = new BigInt64Array(size * NUMBERS);
  const known = new Float32Array(size * LISTS);
  const gaps = new BigInt64Array(size);
  const mask = new Float32Array(size);
  for (const { text, first, last, at } of run) {
    for (let index = first; index < last; index += 1) {
      const { start, end, gap } = words[text]![index]!;
      const word = texts[text]!.slice(start, end);
      const place = at + index - first;
      for (const [i, number] of numbersOf(word).entries()) numbers[place * NUMBERS + i] = BigInt(number);
      const bits = lists(word);
      for (let bit = 0; bit < LISTS; bit += 1) known[place * LISTS + bit] = (bits >> bit) & 1;
      gaps[place] = BigInt(gap);
      mask[place] = 1;
    }
  }
  const said = await session.run({
    numbers: new Tensor('int64', numbers, [1, size, NUMBERS]),
    lists: new Tensor('float32', known, [1, size, LISTS]),
    gaps: new Tensor('int64', gaps, [1, size]),
    mask: new Tensor('float32', mask, [1, size]),
  });
  const all = said['logits']!.data as Float32Array;
  const width = tags.length;
  for (const { text, first, from, until, at } of run) {
    const begin = (at + from - first) * width;
    logits[text]!.set(all.subarray(begin, begin + (until - from) * width), from * width);
  }
}
