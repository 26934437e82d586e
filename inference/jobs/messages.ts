import type { DocumentFaultKind, OnPages } from '#/ports/documents.ts';
import type { Job } from '../engine/verbs.ts';

/** What a thread is asked to do. `check`: draw a page and recognize a word. */
export type Task = Job | { readonly verb: 'check' };

/** To a thread. `given up` is one 32-bit cell that both sides see: 1 once the result is no longer needed. */
export interface TaskMessage {
  readonly task: Task;
  readonly givenUp: SharedArrayBuffer;
}

/** From a thread: signs of progress, and then how the task ended. */
export type ThreadMessage =
  /** `pages`: how many are done, and of how many. */
  | { readonly kind: 'step'; readonly pages?: Parameters<OnPages> }
  /** The result as JSON. `heapBytes`: what the thread holds now. */
  | { readonly kind: 'done'; readonly json: Uint8Array; readonly heapBytes: number }
  /** `cause`: name of the thrown error, if it was unexpected. */
  | {
      readonly kind: 'fault';
      readonly fault: DocumentFaultKind;
      readonly message: string;
      readonly cause?: string;
      readonly heapBytes: number;
    };
