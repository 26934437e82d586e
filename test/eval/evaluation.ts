import path from 'node:path';
import { LOADERS, type Answerer } from '../../inference/decide/loaders.ts';
import { readModelFolder, WEIGHTS, type ModelKind } from '../../inference/decide/manifest.ts';
import { rounded } from './score.ts';

/** Figures beside one another, in the columns of the first row. */
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
