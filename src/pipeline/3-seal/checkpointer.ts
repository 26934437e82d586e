import type { KeyObject } from 'node:crypto';
import type { CheckpointStore } from '#ports/checkpoints.ts';
import { makeCheckpoint } from './checkpoint.ts';

export interface CheckpointerDeps {
  readonly store: CheckpointStore;
  /** Ed25519 private key. */
  readonly key: KeyObject;
  readonly onFault: (error: unknown) => void;
}

/** Signs how far the strands have grown, so that cutting off their ends is found. // design 6 */
export interface Checkpointer {
  /** Makes one now if anything has grown. Never rejects: the next one covers what this one could not. */
  make(): Promise<void>;
  start(): void;
  stop(): void;
}

const EVERY_MS = 60_000;

/** Several gateways may run one each: of two that make the same number, the store takes the first. */
export function createCheckpointer({ store, key, onFault }: CheckpointerDeps): Checkpointer {
  let timer: NodeJS.Timeout | undefined;
  const make = async (): Promise<void> => {
    try {
      const input = await store.heads();
      if (input.heads.length > 0) await store.saveCheckpoint(makeCheckpoint(input, Date.now(), key));
    } catch (error) {
      onFault(error);
    }
  };
  return {
    make,
    start() {
      timer = setInterval(() => void make(), EVERY_MS).unref();
    },
    stop() {
      clearInterval(timer);
    },
  };
}
