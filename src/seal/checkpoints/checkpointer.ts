import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Checkpoint, CheckpointStore } from '#/ports/checkpoints.ts';
import { keyId, makeCheckpoint, spkiOf } from './checkpoint.ts';

export interface CheckpointerDeps {
  readonly store: CheckpointStore;
  /** Ed25519 private keys, the newest first: it signs once one before it has said that it may. */
  readonly keys: readonly KeyObject[];
  readonly onFault: (error: unknown) => void;
}

/** Signs how far the strands and credit have grown, so that cutting off their ends is found. // design 6 */
export interface Checkpointer {
  /** Makes one now if anything has grown. Never rejects: the next one covers what this one could not. */
  make(): Promise<void>;
  start(): void;
  stop(): void;
}

const EVERY_MS = 60_000;

/** Several gateways may run one each: of two that make the same number, the store takes the first. */
export function createCheckpointer({ store, keys, onFault }: CheckpointerDeps): Checkpointer {
  let timer: NodeJS.Timeout | undefined;
  /** Whether a key of ours was ever the chain's: then one that is not ours has replaced it, and we have nothing to say. */
  let wasOurs = false;
  const make = async (): Promise<void> => {
    try {
      const input = await store.heads();
      const { signer, introduces, known } = signerAfter(input.last, keys);
      wasOurs ||= !known && (await hasSigned(store, keys));
      if (!known && wasOurs)
        throw new Error('another gateway signs with a newer checkpoint key that this one does not have');
      wasOurs ||= known;
      if (input.heads.length === 0 && !input.credit) return;
      await store.saveCheckpoint(makeCheckpoint(input, Date.now(), signer, introduces && { introduces }));
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

/** Whether one of the keys signed any checkpoint: what it signs after its successor vouches for nothing. */
async function hasSigned(store: CheckpointStore, keys: readonly KeyObject[]): Promise<boolean> {
  const own = new Set(keys.map((key) => keyId(createPublicKey(key))));
  for await (const { key } of store.checkpoints()) if (own.has(key)) return true;
  return false;
}

/** Who signs the checkpoint after `last`, and whether it has to name the newest key first. */
export interface Signer {
  readonly signer: KeyObject;
  readonly introduces?: KeyObject;
  /** Whether `last` was signed by one of the keys, or names the newest. */
  readonly known: boolean;
}

/**
 * The newest key, once the chain knows it; until then an older one, which names it. Of keys that the chain knows none
 * of, the newest: who verifies has to know it from elsewhere. `keys` are private ones, the newest first.
 */
export function signerAfter(last: Checkpoint | undefined, keys: readonly KeyObject[]): Signer {
  const [newest] = keys;
  if (!newest) throw new RangeError('the key that signs checkpoints is missing');
  const newestPublic = createPublicKey(newest);
  const knows = !last || last.key === keyId(newestPublic) || last.introduces === spkiOf(newestPublic);
  if (knows) return { signer: newest, known: true };
  const older = keys.find((key) => keyId(createPublicKey(key)) === last.key);
  return older ? { signer: older, introduces: newestPublic, known: true } : { signer: newest, known: false };
}
