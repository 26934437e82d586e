import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { batchesOf } from './batches.ts';
import { ModelFault } from './manifest.ts';
import { checkGraph, fixedSize } from './session.ts';
import { FEATURES, type TypedQuestion } from './typed-input.ts';

const INPUTS = ['ids', 'row', 'row_lone', 'rows', 'part', 'features', 'state', 'state_lone'] as const;
const OUTPUTS = ['logits', 'first', 'lone', 'known'] as const;
type Output = (typeof OUTPUTS)[number];
/** Kinds of rows, as inputs of the graph. */
const PART = { noul: 0, choice: 1, score: 2 } as const;
const OPTION = { noul: 0, choice: 3, score: 4 } as const;

/** What the graph made of one text by itself: some columns of what it said of a batch. */
export interface View {
  readonly said: Readonly<Record<Exclude<Output, 'logits'>, Tensor>>;
  readonly from: number;
  readonly length: number;
}

/** A processed state that questions can be asked about. */
export interface Known {
  readonly state: Tensor;
  readonly state_lone: Tensor;
}

/** A question or an option: how its stretches were read, and its plain facts. */
export interface ReadRow {
  readonly views: readonly View[];
  readonly features: readonly number[];
}

/** The graph of typed decisions, whatever its size (inference/README.md). */
export interface TypedGraph {
  /** Reads each text by itself, those of like length together. */
  read(texts: readonly (readonly number[])[]): Promise<readonly View[]>;
  known(views: readonly View[]): Known;
  /** Asks a question, which is the first row, about a state: returns the logits of each row by column. */
  ask(known: Known, type: TypedQuestion['type'], rows: readonly ReadRow[]): Promise<readonly (readonly number[])[]>;
}

/** What a graph is tried with: the longest text it is to read at once, marks included, and the columns it is to have. */
export interface Tried {
  readonly text: readonly number[];
  readonly columns: number;
  /** What fills texts up to the same length. */
  readonly pad: number;
}

/** Tries a graph once, with typical input. Throws `ModelFault` with the mismatch. */
export async function openTypedGraph(session: InferenceSession, { text, columns, pad }: Tried): Promise<TypedGraph> {
  checkGraph(session, INPUTS, OUTPUTS);
  const width = { row: fixedSize(session, 'row', 3, 2), row_lone: fixedSize(session, 'row_lone', 3, 2) };
  const layers = fixedSize(session, 'state', 3, 0);
  const wide = { state: fixedSize(session, 'state', 3, 2), state_lone: fixedSize(session, 'state_lone', 3, 2) };
  const features = fixedSize(session, 'features', 3, 2);
  if (features !== FEATURES) throw new ModelFault(`a row has ${FEATURES} facts, but the graph takes ${features}`);
  const noQuestion = {
    row: zeros(1, 1, width.row),
    row_lone: zeros(1, 1, width.row_lone),
    rows: longs([0]),
    part: longs([0]),
    features: zeros(1, 1, FEATURES),
    state: zeros(layers, 1, wide.state),
    state_lone: zeros(1, 1, wide.state_lone),
  };
  const graph = graphOf(session, noQuestion, { text, columns, pad });
  await tried(graph, text);
  return graph;
}

/** `noQuestion`: inputs of the graph, besides texts, while it only reads texts. */
function graphOf(
  session: InferenceSession,
  noQuestion: Record<string, Tensor>,
  { text, columns, pad }: Tried,
): TypedGraph {
  const oneText = { ids: longs([text[0] ?? pad], 1, 1) };

  async function run<T extends Output>(
    feeds: Record<string, Tensor>,
    wanted: readonly T[],
  ): Promise<Record<T, Tensor>> {
    return (await session.run(feeds, wanted)) as Record<T, Tensor>;
  }

  return {
    async read(texts) {
      const views: View[] = [];
      for (const batch of batchesOf(texts.map(({ length }) => length))) {
        const longest = Math.max(...batch.map((at) => texts[at]!.length));
        const ids = batch.flatMap((at) => [...texts[at]!, ...Array<number>(longest - texts[at]!.length).fill(pad)]);
        const feeds = { ...noQuestion, ids: longs(ids, batch.length, longest) };
        const said = await run(feeds, ['first', 'lone', 'known']);
        for (const [nth, at] of batch.entries()) {
          views[at] = { said, from: nth * longest, length: texts[at]!.length };
        }
      }
      return views;
    },
    known: (views) => ({ state: joined(views, 'known'), state_lone: joined(views, 'lone') }),
    async ask(known, type, rows) {
      const numbers = rows.flatMap(({ views }, number) =>
        Array<number>(views.reduce((sum, { length }) => sum + length, 0)).fill(number),
      );
      const views = rows.flatMap((row) => row.views);
      const facts = Float32Array.from(rows.flatMap((row) => row.features));
      const feeds = {
        ...oneText,
        ...known,
        row: joined(views, 'first'),
        row_lone: joined(views, 'lone'),
        rows: longs(numbers),
        part: longs(numbers.map((number) => (number === 0 ? PART[type] : OPTION[type]))),
        features: new Tensor('float32', facts, [1, rows.length, FEATURES]),
      };
      const { logits } = await run(feeds, ['logits']);
      const data = logits.data as Float32Array;
      if (data.length !== rows.length * columns) throw new ModelFault(`the output logits must have ${columns} columns`);
      return rows.map((_, at) => Array.from(data.subarray(at * columns, (at + 1) * columns)));
    },
  };
}

async function tried(graph: TypedGraph, text: readonly number[]): Promise<void> {
  try {
    const views = await graph.read([text]);
    const row = { views, features: Array<number>(FEATURES).fill(0) };
    await graph.ask(graph.known(views), 'choice', [row, row]);
  } catch (error) {
    if (error instanceof ModelFault) throw error;
    throw new ModelFault(`the graph failed on ${text.length} pieces: its sizes differ from the manifest`);
  }
}

/** Results for texts, one after the other, without padding. */
function joined(views: readonly View[], name: Exclude<Output, 'logits'>): Tensor {
  const [layers, , width] = views[0]!.said[name].dims as readonly [number, number, number];
  const size = views.reduce((sum, { length }) => sum + length, 0);
  const data = new Float32Array(layers * size * width);
  let at = 0;
  for (const { said, from, length } of views) {
    const given = said[name].data as Float32Array;
    const all = said[name].dims[1]!;
    for (let layer = 0; layer < layers; layer += 1) {
      const begin = (layer * all + from) * width;
      data.set(given.subarray(begin, begin + length * width), (layer * size + at) * width);
    }
    at += length;
  }
  return new Tensor('float32', data, [layers, size, width]);
}

function zeros(...shape: readonly number[]): Tensor {
  return new Tensor('float32', new Float32Array(shape.reduce((a, b) => a * b)), shape);
}

function longs(values: readonly number[], ...shape: readonly number[]): Tensor {
  return new Tensor('int64', BigInt64Array.from(values, BigInt), shape.length > 0 ? [...shape] : [values.length]);
}
