import { Tensor } from 'onnxruntime-node';
import { ModelFault, WEIGHTS, type ModelFolder } from './manifest.ts';
import { routerNumbers, type RouterState } from './router-input.ts';
import { openTokenizer } from './tokenizer.ts';
import { openSession, type Device } from './session.ts';

/** What a router makes of a prompt: probabilities, calibrated. */
export interface RouterAnswer {
  /** That it takes several steps that depend on each other. */
  readonly reasoning: number;
  /** Of the levels 0 to 3. */
  readonly complexity: readonly number[];
  /** By the model's labels. */
  readonly task: Readonly<Record<string, number>>;
}

const OUTPUTS = { task: 0, reasoning: 2, complexity: 4 } as const;

/** Loads a verified folder. Throws `ModelFault` when its tokenizer or its graph is not that of a router. */
export async function loadRouter(
  { manifest, files }: ModelFolder,
  device?: Device,
): Promise<(state: RouterState) => Promise<RouterAnswer>> {
  if (manifest.tokenizer.type !== 'huggingface') throw new ModelFault('a router takes a tokenizer of pieces');
  const { pieces } = openTokenizer(files.get(manifest.tokenizer.file)!);
  const session = await openSession(files.get(WEIGHTS)!, device);
  const missing = Object.keys(OUTPUTS).find((name) => !session.outputNames.includes(name));
  if (missing !== undefined) throw new ModelFault(`the graph of a router has an output ${missing}`);
  const { labels } = manifest;
  return async (state) => {
    const { ids, grams, features } = routerNumbers(state, pieces);
    const longs = (values: readonly number[]): Tensor =>
      new Tensor('int64', BigInt64Array.from(values.length > 0 ? values : [0], BigInt), [
        1,
        Math.max(1, values.length),
      ]);
    const said = await session.run({
      ids: longs(ids),
      mask: new Tensor('float32', new Float32Array(ids.length).fill(1), [1, ids.length]),
      grams: longs(grams),
      features: new Tensor('float32', Float32Array.from(features), [1, features.length]),
    });
    const row = (name: keyof typeof OUTPUTS, size: number): readonly number[] => {
      const data = said[name]?.data as Float32Array;
      if (data.length !== size) throw new ModelFault(`the output ${name} is not of ${size} numbers`);
      return Array.from(data);
    };
    return {
      reasoning: row('reasoning', OUTPUTS.reasoning)[1]!,
      complexity: row('complexity', OUTPUTS.complexity),
      task: Object.fromEntries(row('task', labels.length).map((p, index) => [labels[index] ?? '', p])),
    };
  };
}
