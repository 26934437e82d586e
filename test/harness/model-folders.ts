import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folded, hashOf } from '../../inference/decide/words.ts';
import { onnxFile, type Graph } from './onnx.ts';

/** A folder of small models that answer by rules anybody can follow. */
export interface ModelFolders extends Disposable {
  readonly dir: string;
  /** Rewrites the manifest of one, after its files were changed or to change what it says. */
  readonly seal: (kind: Kind, more?: object) => void;
}

const TAGS = ['O', 'B-PER', 'I-PER', 'B-LOC', 'I-LOC', 'B-ORG', 'I-ORG', 'B-ADDRESS', 'I-ADDRESS'];
const TASKS = ['code', 'writing', 'translation', 'extraction', 'document', 'support', 'smalltalk', 'action'];
/** Which bit of the lists each word has, and so which tag. */
const WORDS: Readonly<Record<string, number>> = {
  Ada: 0,
  Grace: 0,
  Lovelace: 1,
  Hopper: 1,
  Paris: 2,
  Acme: 3,
  Ringstrasse: 4,
};
const TAG_OF_BIT = ['B-PER', 'I-PER', 'B-LOC', 'B-ORG', 'B-ADDRESS', 'I-ADDRESS'];
const TOKENIZER = new URL('../../inference/models/router/tokenizer.json', import.meta.url).pathname;

type Kind = 'names' | 'router' | 'typed';
const GRAPHS: Readonly<Record<Kind, () => Graph>> = { names, router, typed: () => typed() };
const LABELS: Readonly<Record<Kind, readonly string[]>> = {
  names: TAGS,
  router: TASKS,
  typed: ['noul', 'choice', 'score'],
};
const LIMITS: Readonly<Record<Kind, object>> = {
  names: { tokens: 256 },
  router: { tokens: 256, head: 96, tail: 24, previous: 24, system: 12, attachments: 8, grams: 512, buckets: 65_536 },
  typed: { tokens: 128, windows: 10, row: 256, question: 512, questions: 3200 },
};
const SAME = { noul: 1, choice: 1, score: 1 };
const PLAIN = { noul: [1, 0, 0, 0], choice: [1, 0, 0, 0], score: [1, 0, 0, 0] };

/** Writes models of names and of routing; `kinds`: those there are to be. */
export function writeModels(kinds: readonly Kind[] = ['names', 'router']): ModelFolders {
  const dir = mkdtempSync(join(tmpdir(), 'gatewarden-models-'));
  const seal = (kind: Kind, more: object = {}): void => {
    const folder = join(dir, kind);
    const files = Object.fromEntries(
      readdirSync(folder)
        .filter((name) => name !== 'manifest.json')
        .map((name) => [
          name,
          createHash('sha256')
            .update(readFileSync(join(folder, name)))
            .digest('hex'),
        ]),
    );
    const tokenizer =
      kind === 'names' ? { type: 'hashed-words', lists: 'lists.bin' } : { type: 'huggingface', file: 'tokenizer.json' };
    const calibration = kind === 'typed' ? { temperatures: SAME, confidence: PLAIN } : undefined;
    const about = { v: 1, kind, name: `test-${kind}`, licence: 'none', languages: ['en'], limits: LIMITS[kind] };
    writeFileSync(
      join(folder, 'manifest.json'),
      JSON.stringify({ ...about, files, tokenizer, labels: LABELS[kind], calibration, ...more }),
    );
  };
  for (const kind of kinds) {
    mkdirSync(join(dir, kind));
    writeFileSync(join(dir, kind, 'model.onnx'), onnxFile(GRAPHS[kind]()));
    if (kind === 'names') writeFileSync(join(dir, kind, 'lists.bin'), lists());
    else copyFileSync(TOKENIZER, join(dir, kind, 'tokenizer.json'));
    seal(kind);
  }
  return { dir, seal, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

function lists(): Uint8Array {
  const entries = Object.entries(WORDS)
    .map(([word, bit]) => [hashOf(folded(word)), 1 << bit] as const)
    .sort(([a], [b]) => a - b);
  const hashes = Buffer.alloc(entries.length * 4);
  for (const [index, [hash]] of entries.entries()) hashes.writeUInt32LE(hash, index * 4);
  return Buffer.concat([hashes, Buffer.from(entries.map(([, bits]) => bits))]);
}

/** A word's tag is that of its list. A text of thousands of words takes seconds: work grows with the cube of its length. */
function names(): Graph {
  const width = TAGS.length;
  const weights = TAG_OF_BIT.flatMap((tag) => TAGS.map((one) => (one === tag ? 20 : 0)));
  return {
    inputs: {
      numbers: { type: 'int64', shape: [1, null, 5] },
      lists: { type: 'float32', shape: [1, null, 6] },
      gaps: { type: 'int64', shape: [1, null] },
      mask: { type: 'float32', shape: [1, null] },
    },
    outputs: { logits: { type: 'float32', shape: [1, null, width] } },
    weights: {
      byList: { shape: [6, width], values: weights },
      bias: { shape: [width], values: TAGS.map((tag) => (tag === 'O' ? 5 : 0)) },
      nothing: { shape: [1], values: [0] },
    },
    nodes: [
      { op: 'MatMul', inputs: ['lists', 'byList'], output: 'listed' },
      { op: 'Add', inputs: ['listed', 'bias'], output: 'scored' },
      { op: 'Transpose', inputs: ['mask'], output: 'column', attributes: { perm: [1, 0] } },
      { op: 'MatMul', inputs: ['column', 'mask'], output: 'square' },
      { op: 'MatMul', inputs: ['square', 'square'], output: 'cube' },
      { op: 'MatMul', inputs: ['cube', 'square'], output: 'more' },
      { op: 'ReduceMax', inputs: ['more'], output: 'most', attributes: { keepdims: 0 } },
      { op: 'Mul', inputs: ['most', 'nothing'], output: 'none' },
      { op: 'Add', inputs: ['scored', 'none'], output: 'logits' },
    ],
  };
}

/**
 * Goes by plain facts of the request: a code fence is hard code that takes reasoning, a question mark is support of
 * middling size, a file is a document about which nothing is sure; anything else is small talk.
 */
export function router(): Graph {
  const [fence, question, file] = [2, 4, 5];
  const rows = (size: number, by: Readonly<Record<number, readonly number[]>>): readonly number[] =>
    Array.from({ length: 12 }, (_, feature) => by[feature] ?? Array<number>(size).fill(0)).flat();
  const to = (size: number, at: number, weight: number): number[] =>
    Array.from({ length: size }, (_, index) => (index === at ? weight : 0));
  const heads = {
    task: { size: 8, by: { [fence]: to(8, 0, 20), [question]: to(8, 5, 14), [file]: to(8, 4, 10) }, rest: to(8, 6, 6) },
    reasoning: { size: 2, by: { [fence]: to(2, 1, 12), [file]: to(2, 1, 6) }, rest: to(2, 0, 6) },
    complexity: {
      size: 4,
      by: { [fence]: to(4, 3, 20), [question]: to(4, 2, 14), [file]: [0, 0, 6, 6] },
      rest: to(4, 0, 6),
    },
  };
  const named = Object.entries(heads);
  return {
    inputs: {
      ids: { type: 'int64', shape: [1, null] },
      mask: { type: 'float32', shape: [1, null] },
      grams: { type: 'int64', shape: [1, null] },
      features: { type: 'float32', shape: [1, 12] },
    },
    outputs: Object.fromEntries(
      named.map(([name, { size }]) => [name, { type: 'float32' as const, shape: [1, size] }]),
    ),
    weights: Object.fromEntries(
      named.flatMap(([name, { size, by, rest }]) => [
        [`${name}By`, { shape: [12, size], values: rows(size, by) }],
        [`${name}Rest`, { shape: [size], values: rest }],
      ]),
    ),
    nodes: named.flatMap(([name]) => [
      { op: 'MatMul', inputs: ['features', `${name}By`], output: `${name}Said` },
      { op: 'Add', inputs: [`${name}Said`, `${name}Rest`], output: `${name}Logits` },
      { op: 'Softmax', inputs: [`${name}Logits`], output: name },
    ]),
  };
}

/**
 * The more of its words the state has, the likelier is a row, whatever it is. Of texts it knows the numbers of their pieces,
 * `width` times over, in `layers`.
 */
export function typed(width = 1, layers = 1): Graph {
  const number = { type: 'int64', shape: [null] } as const;
  const wide = { type: 'float32', shape: [1, null, width] } as const;
  const deep = { type: 'float32', shape: [layers, null, width] } as const;
  return {
    inputs: {
      ids: { type: 'int64', shape: [null, null] },
      row: wide,
      row_lone: wide,
      rows: number,
      part: number,
      features: { type: 'float32', shape: [1, null, 4] },
      state: deep,
      state_lone: wide,
    },
    outputs: { logits: { type: 'float32', shape: [1, null, 3] }, first: wide, lone: wide, known: deep },
    weights: {
      byWords: { shape: [4, 3], values: [9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0] },
      half: { shape: [3], values: [-4.5, 0, 0] },
      wide: { shape: [1, 1, width], values: Array<number>(width).fill(0) },
      deep: { shape: [layers, 1, width], values: Array<number>(layers * width).fill(0) },
    },
    nodes: [
      { op: 'MatMul', inputs: ['features', 'byWords'], output: 'found' },
      { op: 'Add', inputs: ['found', 'half'], output: 'logits' },
      { op: 'Cast', inputs: ['ids'], output: 'numbers', attributes: { to: 1 } },
      { op: 'Flatten', inputs: ['numbers'], output: 'flat', attributes: { axis: 0 } },
      { op: 'Transpose', inputs: ['flat'], output: 'column', attributes: { perm: [1, 0] } },
      { op: 'Add', inputs: ['column', 'wide'], output: 'first' },
      { op: 'Add', inputs: ['column', 'wide'], output: 'lone' },
      { op: 'Add', inputs: ['column', 'deep'], output: 'known' },
    ],
  };
}
