import { parentPort, workerData } from 'node:worker_threads';
import { readModelFolder, ModelFault, type ModelKind } from './manifest.ts';
import { LOADERS } from './loaders.ts';
import type { Device } from './session.ts';
import { TooLong } from './typed-input.ts';

/** To a thread. */
export interface Question {
  readonly id: number;
  readonly input: object;
}

/** From a thread: once whether its model is there, then the answer to each question. */
export type ThreadWord =
  | { readonly kind: 'ready'; readonly revision: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'answer'; readonly id: number; readonly output: object }
  | { readonly kind: 'too_long'; readonly id: number; readonly question: number | undefined }
  | { readonly kind: 'refused'; readonly id: number; readonly cause: string };

/** What a thread is started with. */
export interface ThreadStart {
  readonly kind: ModelKind;
  readonly folder: string;
  readonly device: Device;
}

const port = parentPort;
if (port === null) throw new Error('model-thread.ts must run as a worker thread');
const tell = (word: ThreadWord): void => port.postMessage(word);

const { kind, folder, device } = workerData as ThreadStart;
try {
  const files = await readModelFolder(folder, kind);
  const answer = await LOADERS[kind](files, device);
  port.on('message', (asked: Question | 'end') => {
    // Between two native runs, never within one. This ends the thread alone.
    if (asked === 'end') return process.exit(0);
    const { id, input } = asked;
    answer(input).then(
      (output) => tell({ kind: 'answer', id, output }),
      // What a library says may quote the text: only the kind of the fault goes out.
      (error: unknown) => {
        if (error instanceof TooLong) tell({ kind: 'too_long', id, question: error.question });
        else tell({ kind: 'refused', id, cause: error instanceof Error ? error.name : typeof error });
      },
    );
  });
  tell({ kind: 'ready', revision: files.revision });
} catch (error) {
  tell({ kind: 'failed', reason: error instanceof ModelFault ? error.message : `${kind}: the model cannot be loaded` });
}
