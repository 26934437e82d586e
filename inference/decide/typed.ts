import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { runsOf } from './batches.ts';
import { affirmed } from './denial.ts';
import { glossaryOf } from './glossary.ts';
import { ModelFault, WEIGHTS, type ModelFolder } from './manifest.ts';
import { openSession, type Device } from './session.ts';
import { longestText, openTokenizer } from './tokenizer.ts';
import { openTypedGraph, type Known, type ReadRow, type TypedGraph, type View } from './typed-graph.ts';
import { KINDS, readState, rowsOf, sizeOf, TYPED_LIMITS, windowsOf, type TypedQuestion } from './typed-input.ts';

/** What the model makes of one question. */
export interface TypedAnswer {
  /** Of its options, in their order; they add up to 1. */
  readonly probabilities: readonly number[];
  /** How likely it is that the likeliest option is right, as found on questions held back from training. */
  readonly answer_confidence: number;
}

/** Answers questions about a state, each as if it were the only one. Rejects with `TooLong`. */
export type Decide = (state: unknown, questions: readonly TypedQuestion[]) => Promise<readonly TypedAnswer[]>;

const LIMITS = Compile(TYPED_LIMITS);
const NUMBER = Type.Number();
const of = <T extends Type.TSchema>(each: T): Type.TObject<Record<(typeof KINDS)[number], T>> =>
  Type.Object({ noul: each, choice: each, score: each });
const CALIBRATION = Compile(
  Type.Object({
    /** By kind of question, what logits are divided by. */
    temperatures: of(Type.Number({ exclusiveMinimum: 0 })),
    /** By kind, the weights of the facts about the most likely answer, and a constant. */
    confidence: of(Type.Array(NUMBER, { minItems: 4, maxItems: 4 })),
  }),
);

/** Loads a verified folder. Throws `ModelFault` when its graph is not that of a model of typed decisions. */
export async function loadTyped({ manifest, files }: ModelFolder, device?: Device): Promise<Decide> {
  if (manifest.tokenizer.type !== 'huggingface')
    throw new ModelFault('the input of a typed-decision model must be a piece tokenizer');
  const { calibration, limits, labels } = manifest;
  if (!CALIBRATION.Check(calibration))
    throw new ModelFault('the manifest of a typed-decision model must have a calibration');
  if (!LIMITS.Check(limits)) throw new ModelFault('the manifest of a typed-decision model must have limits');
  const unnamed = KINDS.find((kind) => !labels.includes(kind));
  if (unnamed !== undefined) throw new ModelFault(`the label ${unnamed} is unknown`);
  const tokenizer = openTokenizer(files.get(manifest.tokenizer.file)!);
  const reader = { tokenizer, glossary: glossaryOf({ manifest, files }), limits };
  const longest = Math.max(limits.tokens, limits.row);
  const graph = await openTypedGraph(await openSession(files.get(WEIGHTS)!, device), {
    text: longestText(tokenizer, longest),
    columns: labels.length,
    pad: manifest.tokenizer.pad ?? 0,
  });
  return async (state, questions) => {
    const text = readState(state, reader);
    const asked = questions.map(affirmed);
    const rows = rowsOf(asked, text, reader);
    const windows = windowsOf(text, reader);
    const sizes = rows.map((own) => own.map(({ stretches }) => sizeOf(stretches)));
    const runs = runsOf(sizes, sizeOf(windows));
    const viewOf = await readOnce(graph, [...windows, ...rows.flat().flatMap(({ stretches }) => stretches)]);
    const known = graph.known(windows.map(viewOf));
    const answers: TypedAnswer[] = [];
    for (const [number, { type, isDenied }] of asked.entries()) {
      const read = rows[number]!.map(({ stretches, features }) => ({ views: stretches.map(viewOf), features }));
      const logits = await ask(graph, known, type, read, runs[number]!, labels.indexOf(type));
      const probabilities = softmax(logits, calibration.temperatures[type]);
      const confidence = confidenceOf(probabilities, calibration.confidence[type]);
      const own = isDenied ? probabilities.toReversed() : probabilities;
      answers.push({ probabilities: own, answer_confidence: confidence });
    }
    return answers;
  };
}

/** Reads texts, each once however often it is there. */
async function readOnce(
  graph: TypedGraph,
  texts: readonly (readonly number[])[],
): Promise<(text: readonly number[]) => View> {
  const apart = new Map(texts.map((text) => [text.join(' '), text]));
  const views = await graph.read([...apart.values()]);
  const found = new Map([...apart.keys()].map((key, at) => [key, views[at]!]));
  return (text) => found.get(text.join(' '))!;
}

/** A logit for each option; of a proposition, that it holds and that it does not. */
async function ask(
  graph: TypedGraph,
  known: Known,
  type: TypedQuestion['type'],
  [question, ...options]: readonly ReadRow[],
  runs: readonly (readonly number[])[],
  column: number,
): Promise<readonly number[]> {
  const logits: number[] = [];
  for (const run of runs) {
    const said = await graph.ask(known, type, [question!, ...run.map((at) => options[at]!)]);
    const [first, ...others] = said.map((row) => row[column]!);
    logits.push(...(type === 'noul' ? [first!, 0] : others));
  }
  return logits;
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
