import { readFileSync } from 'node:fs';
import { BUCKETS, type Features } from './login-features.ts';
import { hashOf, hashText, mixed, SECOND_SEED, SEED } from './login-hash.ts';

/** How many numbers stand for each feature, and how many kinds of words there are: none, login, password. */
export const WIDTH = 8;
export const KINDS = 3;
/** The words that are known, in bits. */
export const WORD_BITS = 1 << 22;
const WORD_HASHES = 4;
/** Before the numbers in 8 bits: the step between two of them, of features and of the last layer. */
const HEADER = 8;

/** The model: one hidden layer over hashed features, and a list of ordinary words. */
export interface LoginModel {
  /** Whether a word, in lower case, is an ordinary one. One in fifty others counts as one, too. */
  readonly known: (word: string) => boolean;
  /** The same of a word whose hashes from both seeds are these. */
  readonly knows: (first: number, second: number) => boolean;
  /** How much likelier a word is a login, and a password, than neither: natural logarithms, into `scores`. */
  score(features: Features, scores: Float64Array): void;
}

function bitOf(first: number, second: number, index: number): number {
  return (first + Math.imul(index, second)) & (WORD_BITS - 1);
}

/** The bits of a word among the known ones. */
export function knownBits(word: string): readonly number[] {
  const first = hashText(word);
  const second = hashText(word, SECOND_SEED) | 1;
  return Array.from({ length: WORD_HASHES }, (_, index) => bitOf(first, second, index));
}

/** Numbers of a model as they are trained. */
export interface LoginWeights {
  readonly words: Uint8Array;
  /** `WIDTH` numbers a feature. */
  readonly features: Float32Array;
  readonly bias: Float32Array;
  /** `WIDTH` numbers a kind, then one more for each. */
  readonly last: Float32Array;
}

/** A model of these numbers. */
export function modelOf({ words, features: weights, bias, last }: LoginWeights): LoginModel {
  const hidden = new Float64Array(WIDTH);
  const knows = (first: number, second: number): boolean => {
    const from = mixed(first);
    const step = mixed(second) | 1;
    for (let index = 0; index < WORD_HASHES; index += 1) {
      const bit = bitOf(from, step, index);
      if ((((words[bit >> 3] as number) >> (bit & 7)) & 1) === 0) return false;
    }
    return true;
  };
  return {
    known: (word) => knows(hashOf(SEED, word, 0, word.length), hashOf(SECOND_SEED, word, 0, word.length)),
    knows,
    score({ buckets, length }, scores): void {
      hidden.set(bias);
      addRows(hidden, weights, buckets, length);
      for (let kind = 0; kind < KINDS; kind += 1) {
        let sum = last[KINDS * WIDTH + kind] as number;
        for (let at = 0; at < WIDTH; at += 1)
          sum += Math.max(0, hidden[at] as number) * (last[kind * WIDTH + at] as number);
        scores[kind] = sum;
      }
    },
  };
}

/** Adds the numbers of so many features, written out as the innermost work of all. */
function addRows(hidden: Float64Array, weights: Float32Array, buckets: Uint16Array, length: number): void {
  let [a, b, c, d, e, f, g, h] = hidden as unknown as Eight;
  for (let index = 0; index < length; index += 1) {
    const row = (buckets[index] as number) * WIDTH;
    a += weights[row] as number;
    b += weights[row + 1] as number;
    c += weights[row + 2] as number;
    d += weights[row + 3] as number;
    e += weights[row + 4] as number;
    f += weights[row + 5] as number;
    g += weights[row + 6] as number;
    h += weights[row + 7] as number;
  }
  hidden.set([a, b, c, d, e, f, g, h]);
}

type Eight = [number, number, number, number, number, number, number, number];

/** The numbers in 8 bits, as a file. */
export function packed({ words, features, bias, last }: LoginWeights): Buffer {
  const small = new Float32Array([...bias, ...last]);
  const most = features.reduce((sum, value) => Math.max(sum, Math.abs(value)), 0);
  const header = Buffer.alloc(HEADER);
  header.writeFloatLE(most / 127, 0);
  header.writeUInt32LE(small.length, 4);
  const bytes = Int8Array.from(features, (value) => Math.round((value / most) * 127));
  return Buffer.concat([header, Buffer.from(small.buffer), Buffer.from(bytes.buffer), words]);
}

/** What `packed` has made a file of. */
function unpacked(file: Buffer): LoginWeights {
  const step = file.readFloatLE(0);
  const count = file.readUInt32LE(4);
  const small = Float32Array.from({ length: count }, (_, index) => file.readFloatLE(HEADER + index * 4));
  const from = HEADER + count * 4;
  const features = Float32Array.from({ length: BUCKETS * WIDTH }, (_, index) => file.readInt8(from + index) * step);
  return {
    features,
    bias: small.subarray(0, WIDTH),
    last: small.subarray(WIDTH),
    words: new Uint8Array(file.subarray(from + BUCKETS * WIDTH)),
  };
}

/** The model that the tree holds. */
export function readLoginModel(): LoginModel {
  return modelOf(unpacked(readFileSync(new URL('login-model.bin', import.meta.url))));
}
