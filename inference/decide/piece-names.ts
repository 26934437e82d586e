import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { ModelFault, WEIGHTS, type ModelFolder } from './manifest.ts';
import { createReadSpans, type FindNames } from './name-spans.ts';
import { openTokenizer, type Tokenizer } from './tokenizer.ts';
import { openSession, type Device } from './session.ts';

/** Inputs that published models of this kind have; the second kind of text is never used. */
const INPUTS = ['input_ids', 'attention_mask', 'token_type_ids'] as const;
/** The part of a run that is context on each side, where a text is longer than one. */
const CONTEXT = 1 / 8;
/** Of a word; nothing that long is one. */
const MOST_CHARACTERS = 64;
const WORD = /[\p{L}\p{M}\p{N}]+|[^\p{Z}\s]/gu;

/** A word, and its pieces as numbers. */
interface Cut {
  readonly start: number;
  readonly end: number;
  readonly ids: readonly number[];
}

/** Words from `first` to `last` go through the model at once; of those from `from` to `until` it is asked. */
interface Run {
  readonly first: number;
  readonly last: number;
  readonly from: number;
  readonly until: number;
}

/**
 * Loads a verified folder of a model as others publish them for telling tokens apart: a tokenizer of pieces, a graph from
 * `input_ids` to `logits`. A word is what its first piece is. Throws `ModelFault` when its files are not such a model.
 */
export async function loadPieceNames({ manifest, files }: ModelFolder, device?: Device): Promise<FindNames> {
  if (manifest.tokenizer.type !== 'huggingface') throw new ModelFault('the input of a piece model must be a tokenizer');
  const tokenizer = openTokenizer(files.get(manifest.tokenizer.file)!);
  const session = await openSession(files.get(WEIGHTS)!, device);
  const strange = session.inputNames.find((name) => !(INPUTS as readonly string[]).includes(name));
  if (strange !== undefined) throw new ModelFault(`the input ${strange} is unknown`);
  if (!session.outputNames.includes('logits'))
    throw new ModelFault('the graph of a name model must have the output logits');
  const spansOf = createReadSpans(manifest);
  const width = manifest.labels.length;
  const room = manifest.limits.tokens - tokenizer.begin.length - tokenizer.end.length;
  return async (texts) => {
    const found: Awaited<ReturnType<FindNames>>[number][] = [];
    for (const text of texts) {
      const words = cut(text, tokenizer.pieces, Math.floor(room / 2));
      const logits = new Float32Array(words.length * width);
      for (const run of runsOf(words, room)) await score(session, tokenizer, words, run, logits, width);
      found.push(spansOf(text, words, logits));
    }
    return found;
  };
}

/** Words with the space before them, as one space: tokenizers of some models make it a part of the word's first piece. */
function cut(text: string, pieces: Tokenizer['pieces'], most: number): readonly Cut[] {
  const words: Cut[] = [];
  let last = 0;
  for (const { 0: said, index: start } of text.matchAll(WORD)) {
    const end = start + said.length;
    const shown = said.slice(0, MOST_CHARACTERS).toWellFormed();
    const ids = pieces(start > last ? ` ${shown}` : shown).slice(0, most);
    if (ids.length > 0) words.push({ start, end, ids });
    last = end;
  }
  return words;
}

/** Stretches that overlap, so that every word is asked about with words on both sides of it. A word takes half a run at most. */
function runsOf(words: readonly Cut[], room: number): readonly Run[] {
  const runs: Run[] = [];
  const context = Math.floor(room * CONTEXT);
  for (let from = 0; from < words.length;) {
    let [first, size] = [from, 0];
    while (first > 0 && size + lengthAt(words, first - 1) <= context) size += lengthAt(words, --first);
    let last = from;
    while (last < words.length && size + lengthAt(words, last) <= room) size += lengthAt(words, last++);
    let [until, behind] = [last, 0];
    while (last < words.length && until > from + 1 && behind + lengthAt(words, until - 1) <= context)
      behind += lengthAt(words, --until);
    runs.push({ first, last, from, until });
    from = until;
  }
  return runs;
}

function lengthAt(words: readonly Cut[], at: number): number {
  return words[at]?.ids.length ?? 0;
}

async function score(
  session: InferenceSession,
  { begin, end }: Tokenizer,
  words: readonly Cut[],
  { first, last, from, until }: Run,
  logits: Float32Array,
  width: number,
): Promise<void> {
  const ids: number[] = [...begin];
  const places: number[] = [];
  for (const word of words.slice(first, last)) {
    places.push(ids.length);
    ids.push(...word.ids);
  }
  ids.push(...end);
  const longs = (value: (id: number) => bigint): Tensor =>
    new Tensor('int64', BigInt64Array.from(ids, value), [1, ids.length]);
  const given = { input_ids: longs(BigInt), attention_mask: longs(() => 1n), token_type_ids: longs(() => 0n) };
  const taken = Object.entries(given).filter(([name]) => session.inputNames.includes(name));
  const said = (await session.run(Object.fromEntries(taken)))['logits']?.data as Float32Array;
  if (said.length !== ids.length * width)
    throw new ModelFault('the graph and the manifest have different numbers of labels');
  for (let word = from; word < until; word += 1) {
    const place = places[word - first] ?? 0;
    logits.set(said.subarray(place * width, (place + 1) * width), word * width);
  }
}
