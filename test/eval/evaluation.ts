import path from 'node:path';
import { LOADERS, type Answerer } from '../../inference/decide/loaders.ts';
import { readModelFolder, WEIGHTS, type ModelKind } from '../../inference/decide/manifest.ts';
import { quantileOf, rounded } from './score.ts';

/** Figures beside one another; every row has the same columns. */
export interface Table {
  readonly title: string;
  readonly rows: readonly Readonly<Record<string, string | number>>[];
}

/** What one model was found to be worth. */
export interface Evaluation {
  /** What it is: its revision, its size, and what else does not vary. */
  readonly about: Readonly<Record<string, string | number>>;
  readonly tables: readonly Table[];
}

/** Where data and models are: the folder of shared data, that of our own, and that of the models' folders. */
export interface Places {
  readonly data: string;
  readonly own: string;
  readonly models: string;
}

/** Evaluates one model; each is a file of this folder and an entry in `eval.ts`. */
export type Evaluator = (places: Places) => Promise<Evaluation>;

/** A model as users get it: the runtime's own loader on a folder whose files are as its manifest says. */
export interface OpenedModel {
  readonly answer: Answerer;
  readonly about: Readonly<Record<string, string | number>>;
}

/** Opens a model's folder. Throws `ModelFault` as the runtime does. */
export async function openModel(kind: ModelKind, { models }: Places): Promise<OpenedModel> {
  const folder = await readModelFolder(path.join(models, kind), kind);
  const bytes = [...folder.files.values()].reduce((sum, file) => sum + file.length, 0);
  return {
    answer: await LOADERS[kind](folder),
    about: {
      revision: folder.revision,
      weightsMB: rounded((folder.files.get(WEIGHTS)?.length ?? 0) / 1e6),
      folderMB: rounded(bytes / 1e6),
    },
  };
}

/** Milliseconds of each question asked alone, one after the other, after a few that do not count. */
export async function timed(what: string, asks: readonly (() => Promise<unknown>)[]): Promise<Table['rows'][number]> {
  for (const ask of asks.slice(0, 5)) await ask();
  const times: number[] = [];
  for (const ask of asks) {
    const began = performance.now();
    await ask();
    times.push(performance.now() - began);
  }
  const ms = (share: number): number => Number(quantileOf(times, share).toPrecision(3));
  return { what, asked: times.length, p50: ms(0.5), p95: ms(0.95), most: ms(1) };
}
