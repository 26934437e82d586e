import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { Compile } from 'typebox/compile';
import { glossaryOf } from './glossary.ts';
import { ModelFault, WEIGHTS, type ModelFolder } from './manifest.ts';
import {
  FACTS,
  mostPieces,
  routerNumbers,
  ROUTER_LIMITS,
  type RouterNumbers,
  type RouterState,
} from './router-input.ts';
import { checkGraph, openSession, type Device } from './session.ts';
import { longestText, openTokenizer } from './tokenizer.ts';

/** What a router makes of a prompt: probabilities, calibrated. */
export interface RouterAnswer {
  /** That it takes several steps that depend on each other. */
  readonly reasoning: number;
  /** Of the levels 0 to 3. */
  readonly complexity: readonly number[];
  /** By the model's labels. */
  readonly task: Readonly<Record<string, number>>;
}

const LIMITS = Compile(ROUTER_LIMITS);
const INPUTS = ['ids', 'mask', 'grams', 'features'];
const LEVELS = { reasoning: 2, complexity: 4 } as const;

/**
 * Loads a verified folder, and tries its graph once with the longest prompt that it is to read. Throws `ModelFault`, which
 * describes the mismatch.
 */
export async function loadRouter(
  { manifest, files }: ModelFolder,
  device?: Device,
): Promise<(state: RouterState) => Promise<RouterAnswer>> {
  if (manifest.tokenizer.type !== 'huggingface')
    throw new ModelFault('the input of a router must be a piece tokenizer');
  const { labels, limits } = manifest;
  if (!LIMITS.Check(limits)) throw new ModelFault('the manifest of a router must have limits');
  const tokenizer = openTokenizer(files.get(manifest.tokenizer.file)!);
  const most = mostPieces(tokenizer, limits);
  if (most > limits.tokens)
    throw new ModelFault(`the parts of a prompt have up to ${most} pieces, but limits.tokens is ${limits.tokens}`);
  const session = await openSession(files.get(WEIGHTS)!, device);
  checkGraph(session, INPUTS, ['task', ...Object.keys(LEVELS)]);
  const judge = async (numbers: RouterNumbers): Promise<RouterAnswer> => {
    const said = await session.run(feedsOf(session, numbers));
    const row = (name: string, size: number): readonly number[] => {
      const data = said[name]?.data as Float32Array;
      if (data.length !== size) throw new ModelFault(`the output ${name} must have ${size} numbers`);
      return Array.from(data);
    };
    return {
      reasoning: row('reasoning', LEVELS.reasoning)[1]!,
      complexity: row('complexity', LEVELS.complexity),
      task: Object.fromEntries(row('task', labels.length).map((p, index) => [labels[index] ?? '', p])),
    };
  };
  const grams = Array<number>(limits.grams).fill(limits.buckets - 1);
  await tried(judge, { ids: longestText(tokenizer, most), grams, features: Array<number>(FACTS).fill(1) });
  const reader = { tokenizer, glossary: glossaryOf({ manifest, files }), limits };
  return (state) => judge(routerNumbers(state, reader));
}

async function tried(judge: (numbers: RouterNumbers) => Promise<RouterAnswer>, numbers: RouterNumbers): Promise<void> {
  try {
    await judge(numbers);
  } catch (error) {
    if (error instanceof ModelFault) throw error;
    const { ids, grams, features } = numbers;
    throw new ModelFault(
      `the graph failed on ${ids.length} pieces, ${grams.length} table words and ${features.length} facts`,
    );
  }
}

/** What the graph takes of a prompt: one need not look at hashed words, or at plain facts. */
function feedsOf(session: InferenceSession, { ids, grams, features }: RouterNumbers): Record<string, Tensor> {
  const longs = (values: readonly number[]): Tensor =>
    new Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
  const given = {
    ids: longs(ids),
    mask: new Tensor('float32', new Float32Array(ids.length).fill(1), [1, ids.length]),
    grams: longs(grams.length > 0 ? grams : [0]),
    features: new Tensor('float32', Float32Array.from(features), [1, features.length]),
  };
  return Object.fromEntries(Object.entries(given).filter(([name]) => session.inputNames.includes(name)));
}
