import { FairPlaces, type Asker } from './fair-places.ts';
import { isLarge } from '#/wire/document/large-text.ts';
import type { Steps } from '#/wire/document/steps.ts';

/** So long the steps of one piece of work go on before others have their turn. */
const TURN_MS = 8;
/** So long nothing large is worked on between two slices while there are small calls. */
const PAUSE_MS = 4;

/** The slices of one call on the event loop, for work on a large text. */
export interface Slices {
  /** Resolves when it is this call's turn: nothing else of this kind is done in that round of the event loop. */
  next(): Promise<void>;
  /** Does all steps, in as many slices as they need. */
  run<T>(steps: Steps<T>): Promise<T>;
}

/** What the loop must know of a call: whose it is, and whether the client is still there. */
interface Sliced {
  readonly key: { readonly workload: { readonly id: string; readonly organization: { readonly id: string } } };
  readonly signal: AbortSignal;
}

/** The slices of a call whose text is large; undefined: it is worked on at once, which takes some milliseconds. */
export function slicesFor(text: string, { key, signal }: Sliced): Slices | undefined {
  if (!isLarge(text)) return undefined;
  const { id, organization } = key.workload;
  return new CallTurns({ organization: organization.id, workload: id }, signal);
}

interface Waiting {
  readonly asker: Asker;
  readonly resolve: () => void;
}

/** There is one event loop, and one row of those who wait for it: one goes on in each round, organizations in turn. */
const waiting = new FairPlaces<Waiting>();
let count = 0;

/** Small calls in progress: between two slices of others the loop is theirs for a moment. */
let small = 0;

/** A call without slices begins. */
export function beginSmall(): void {
  small += 1;
}

/** It is over. */
export function endSmall(): void {
  small -= 1;
}

function wait(asker: Asker): Promise<void> {
  return new Promise((resolve) => {
    waiting.add({ asker, resolve });
    count += 1;
    if (count === 1) later();
  });
}

/** A small call takes many short steps, each of which would wait for a slice of another if slices followed on each other. */
function later(): void {
  if (small > 0) setTimeout(goOn, PAUSE_MS);
  else setImmediate(goOn);
}

function goOn(): void {
  const next = waiting.next(() => true);
  if (!next) return;
  waiting.delete(next);
  count -= 1;
  // Resolved promises continue before the next round begins.
  if (count > 0) later();
  next.resolve();
}

class CallTurns implements Slices {
  readonly #asker: Asker;
  readonly #signal: AbortSignal;

  constructor(asker: Asker, signal: AbortSignal) {
    this.#asker = asker;
    this.#signal = signal;
  }

  async next(): Promise<void> {
    this.#signal.throwIfAborted();
    await wait(this.#asker);
    this.#signal.throwIfAborted();
  }

  run<T>(steps: Steps<T>): Promise<T> {
    return stepping(() => this.next(), steps);
  }
}

/** Does all steps of a caller's work, in slices. */
export function inSlices<T>(asker: Asker, steps: Steps<T>): Promise<T> {
  return stepping(() => wait(asker), steps);
}

async function stepping<T>(next: () => Promise<void>, steps: Steps<T>): Promise<T> {
  for (;;) {
    await next();
    const end = performance.now() + TURN_MS;
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (performance.now() < end);
  }
}
