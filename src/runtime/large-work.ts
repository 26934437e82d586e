import { FairPlaces, type Asker } from './fair-places.ts';
import { valuesIn } from '#/wire/document/large-text.ts';

/** What a code unit of a text, and a value of JSON, count for: about the bytes of memory that work on them takes. */
const PER_CODE_UNIT = 8;
const PER_VALUE = 150;
/** Of one organization so much is worked on at the same time, or one call: 8 Mi of plain text, or 3 calls of many values. */
const MOST = 64 * 1024 * 1024;

interface Waiting {
  readonly asker: Asker;
  readonly weight: number;
  readonly begin: (done: Disposable) => void;
}

/** What an organization has in work; forgotten when that is nothing. */
interface Share {
  taken: number;
  readonly waiting: FairPlaces<Waiting>;
}

/**
 * Large calls are begun one after the other, so that few of them are held half done: those of an organization as far as
 * they fit, its workloads in turn. Organizations do not wait for each other.
 */
export class LargeWork {
  readonly #shares = new Map<string, Share>();

  /** Resolves when work on the text may begin; dispose of what it resolves with when it is done. Rejects with the signal. */
  async enter(asker: Asker, text: string, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const share = this.#shareOf(asker.organization);
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const waiting: Waiting = { asker, weight: weightOf(text), begin: resolve };
    const leave = (): void => {
      share.waiting.delete(waiting);
      reject(signal.reason as Error);
      this.#goOn(asker.organization, share);
    };
    signal.addEventListener('abort', leave, { once: true });
    share.waiting.add(waiting);
    this.#goOn(asker.organization, share);
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  #shareOf(organization: string): Share {
    let share = this.#shares.get(organization);
    if (!share) this.#shares.set(organization, (share = { taken: 0, waiting: new FairPlaces<Waiting>() }));
    return share;
  }

  /** The next in the queue waits until it fits: no other overtakes it, or the largest would never begin. */
  #goOn(organization: string, share: Share): void {
    for (;;) {
      const [next] = share.waiting;
      if (!next) {
        if (share.taken === 0) this.#shares.delete(organization);
        return;
      }
      const { weight } = next;
      if (share.taken > 0 && share.taken + weight > MOST) return;
      share.waiting.next((one) => one === next);
      share.waiting.delete(next);
      share.taken += weight;
      next.begin(
        new InWork(() => {
          share.taken -= weight;
          this.#goOn(organization, share);
        }),
      );
    }
  }
}

/** Work that needs more than the total counts as all of it. */
function weightOf(text: string): number {
  const weight = text.length * PER_CODE_UNIT;
  return weight >= MOST ? weight : weight + valuesIn(text, MOST / PER_VALUE) * PER_VALUE;
}

class InWork implements Disposable {
  #end: (() => void) | undefined;

  constructor(end: () => void) {
    this.#end = end;
  }

  [Symbol.dispose](): void {
    const end = this.#end;
    this.#end = undefined;
    end?.();
  }
}
