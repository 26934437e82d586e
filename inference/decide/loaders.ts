import type { ModelFolder, ModelKind } from './manifest.ts';
import { loadNames } from './names.ts';
import { loadPieceNames } from './piece-names.ts';
import { loadRouter } from './router.ts';
import type { RouterState } from './router-input.ts';
import type { Device } from './session.ts';
import type { TypedQuestion } from './typed-input.ts';
import { loadTyped } from './typed.ts';

/** Answers one request of a model's route; what it says was checked where it came in. */
export type Answerer = (input: object) => Promise<object>;

/** How a folder of each kind becomes a model. Each throws `ModelFault` when the graph is not of its kind. */
export const LOADERS: Readonly<Record<ModelKind, (folder: ModelFolder, device?: Device) => Promise<Answerer>>> = {
  async names(folder, device) {
    const isHashed = folder.manifest.tokenizer.type === 'hashed-words';
    const find = await (isHashed ? loadNames(folder, device) : loadPieceNames(folder, device));
    return async (input) => ({ spans: await find((input as { readonly texts: readonly string[] }).texts) });
  },
  async router(folder, device) {
    const judge = await loadRouter(folder, device);
    return (input) => judge(input as RouterState);
  },
  async typed(folder, device) {
    const decide = await loadTyped(folder, device);
    return async (input) => {
      const { state, questions } = input as { readonly state: unknown; readonly questions: readonly TypedQuestion[] };
      return { answers: await decide(state, questions) };
    };
  },
};
