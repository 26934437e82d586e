import { Tensor, type InferenceSession } from 'onnxruntime-node';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { ModelFault, WEIGHTS, type ModelFolder } from './manifest.ts';
import { openTokenizer } from './tokenizer.ts';
import { KINDS, rowsOf, stateText, windowsOf, type Row, type TypedQuestion } from './typed-input.ts';
import { openSession, type Device } from './session.ts';

/** What the model makes of one question. */
export interface TypedAnswer {
  /** Of its options, in their order; they add up to 1. */
  readonly probabilities: readonly number[];
  /** How likely it is that the likeliest option is right, as found on questions held back from training. */
  readonly answer_confidence: number;
}

/** Answers questions about a state, each as if it were the only one. */
export type Decide = (state: unknown, questions: readonly TypedQuestion[]) => Promise<readonly TypedAnswer[]>;

const NUMBER = Type.Number();
const of = <T extends Type.TSchema>(each: T): Type.TObject<Record<(typeof KINDS)[number], T>> =>
  Type.Object({ noul: each, choice: each, score: each });
const CALIBRATION = Compile(
  Type.Object({
    /** By kind of question, what logits are divided by. */
    temperatures: of(Type.Number({ exclusiveMinimum: 0 })),
    /** By kind, the weights of the facts about the likeliest answer, and what is added. */
    confidence: of(Type.Array(NUMBER, { minItems: 4, maxItems: 4 })),
  }),
);

const OUTPUTS = ['logits', 'known', 'lone'] as const;
const FEATURES = 4;

/** What the graph made of a state: keys and values by layer, and MiniLM's last view of it. */
interface Known {
  readonly state: Tensor;
  readonly state_lone: Tensor;
}

/** Loads a verified folder. Throws `ModelFault` when its graph is not that of a model of typed decisions. */
export async function loadTyped({ manifest, files }: ModelFolder, device?: Device): Promise<Decide> {
  if (manifest.tokenizer.type !== 'huggingface') throw new ModelFault('typed decisions take a tokenizer of pieces');
  const { calibration } = manifest;
  if (!CALIBRATION.Check(calibration)) throw new ModelFault('a model of typed decisions tells its calibration');
  const { pieces } = openTokenizer(files.get(manifest.tokenizer.file)!);
  const session = await openSession(files.get(WEIGHTS)!, device);
  const missing = OUTPUTS.find((name) => !session.outputNames.includes(name));
  if (missing !== undefined) throw new ModelFault(`the graph of typed decisions has an output ${missing}`);
  const nothing = await unknown(session);
  return async (state, questions) => {
    const text = stateText(state);
    const known = await read(session, nothing, windowsOf(text, pieces));
    const answers: TypedAnswer[] = [];
    for (const question of questions) {
      const logits = await ask(session, known, question.type, rowsOf(question, text, pieces));
      const probabilities = softmax(logits, calibration.temperatures[question.type]);
      const confidence = confidenceOf(probabilities, calibration.confidence[question.type]);
      answers.push({ probabilities, answer_confidence: confidence });
    }
    return answers;
  };
}

/** The state of a graph that has none before it yet: as wide as its own answer about some state. */
async function unknown(session: InferenceSession): Promise<Known> {
  const shapes = session.inputMetadata;
  const shapeOf = (name: keyof Known): readonly number[] => {
    const found = shapes.find((input) => input.name === name);
    const shape = found?.isTensor === true ? found.shape : [];
    if (shape.length !== 3) throw new ModelFault(`the graph of typed decisions has an input ${name}`);
    return shape.map((size) => (typeof size === 'number' ? size : 1));
  };
  const empty = (name: keyof Known): Tensor => {
    const shape = shapeOf(name);
    return new Tensor('float32', new Float32Array(shape.reduce((a, b) => a * b)), shape);
  };
  return { state: empty('state'), state_lone: empty('state_lone') };
}

/** Reads a state once, for all questions about it. */
async function read(
  session: InferenceSession,
  nothing: Known,
  windows: readonly (readonly number[])[],
): Promise<Known> {
  const rows = [{ ids: [windows[0]![0]!], features: Array<number>(FEATURES).fill(0) }];
  const feeds = { ...feedsOf(windows, rows, 'noul'), ...nothing };
  const { known, lone } = await session.run(feeds, ['known', 'lone']);
  const size = windows.reduce((sum, { length }) => sum + length, 0);
  return { state: first(known!, size), state_lone: first(lone!, size) };
}

/** A tensor's first columns of each layer: what comes after them fills the last window up. */
function first(tensor: Tensor, size: number): Tensor {
  const [layers, all, width] = tensor.dims as readonly [number, number, number];
  if (all === size) return tensor;
  const data = tensor.data as Float32Array;
  const cut = new Float32Array(layers * size * width);
  for (let layer = 0; layer < layers; layer += 1) {
    cut.set(data.subarray(layer * all * width, (layer * all + size) * width), layer * size * width);
  }
  return new Tensor('float32', cut, [layers, size, width]);
}

/** A logit for each option; of a proposition, that it holds and that it does not. */
async function ask(
  session: InferenceSession,
  known: Known,
  type: TypedQuestion['type'],
  rows: readonly Row[],
): Promise<readonly number[]> {
  const feeds = { ...feedsOf(rows.map(({ ids }) => ids), rows, type), ...known }; // prettier-ignore
  const data = (await session.run(feeds, ['logits']))['logits']!.data as Float32Array;
  if (data.length !== rows.length * KINDS.length) throw new ModelFault('the output logits has a row for each row');
  const column = rows.map((_, row) => data[row * KINDS.length + KINDS.indexOf(type)]!);
  return type === 'noul' ? [column[0]!, 0] : column.slice(1);
}

/** Texts as the graph reads them; `rows` are those whose pieces go on from there. */
function feedsOf(
  texts: readonly (readonly number[])[],
  rows: readonly Row[],
  type: TypedQuestion['type'],
): Record<string, Tensor> {
  const width = Math.max(...texts.map(({ length }) => length));
  const ids = new BigInt64Array(texts.length * width);
  for (const [at, text] of texts.entries()) ids.set(BigInt64Array.from(text, BigInt), at * width);
  const kind = KINDS.indexOf(type);
  const pieces = rows.flatMap((row, number) => row.ids.map((_, at) => ({ number, place: number * width + at })));
  const longs = (values: readonly number[]): Tensor =>
    new Tensor('int64', BigInt64Array.from(values, BigInt), [values.length]);
  return {
    ids: new Tensor('int64', ids, [texts.length, width]),
    taken: longs(pieces.map(({ place }) => place)),
    rows: longs(pieces.map(({ number }) => number)),
    part: longs(pieces.map(({ number }) => (number === 0 ? kind : 2 + kind))),
    features: new Tensor('float32', Float32Array.from(rows.flatMap(({ features }) => features)), [
      1,
      rows.length,
      FEATURES,
    ]),
  };
}

function softmax(logits: readonly number[], temperature: number): readonly number[] {
  const most = Math.max(...logits);
  const raised = logits.map((logit) => Math.exp((logit - most) / temperature));
  const sum = raised.reduce((a, b) => a + b);
  return raised.map((value) => value / sum);
}

/** By the log odds of the likeliest answer, how far ahead of the next it is, and among how many. */
function confidenceOf(probabilities: readonly number[], weights: readonly number[]): number {
  const [most = 1, next = 0] = probabilities.toSorted((a, b) => b - a);
  const top = Math.min(most, 1 - 1e-4);
  const facts = [Math.log(top / (1 - top)), top - next, Math.log(probabilities.length), 1];
  return 1 / (1 + Math.exp(-facts.reduce((sum, fact, index) => sum + fact * weights[index]!, 0)));
}
