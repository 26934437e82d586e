import type { ModelFolder, ModelKind } from './manifest.ts';
import { loadNames } from './names.ts';

/** Answers one input of a model; inputs were checked where they came in. */
export type Answerer = (input: unknown) => Promise<unknown>;

/** How a folder of each kind becomes a model. Each throws `ModelFault` when the graph is not of its kind. */
export const LOADERS: Readonly<Record<ModelKind, (folder: ModelFolder) => Promise<Answerer>>> = {
  async names(folder) {
    const model = await loadNames(folder);
    return (texts) => model.find(texts as readonly string[]);
  },
};
