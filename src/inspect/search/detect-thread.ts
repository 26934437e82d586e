import { parentPort, workerData } from 'node:worker_threads';
import type { DetectionOptions } from '../detectors/list.ts';
import { createDecodedScanner } from '../decoding/decoded-scanner.ts';
import type { Answer, Order } from './search-threads.ts';
import { searching } from './searches.ts';
import type { Matches } from '../detection.ts';
import { packMatches } from './match-pack.ts';
import { putTogether } from './text-pieces.ts';
import type { Steps } from '#/wire/document/steps.ts';

/** The thread that `search-threads.ts` starts: gives the search it is told a turn, and says whether that is done. */
const port = parentPort;
if (port === null) throw new Error('detect-thread.ts runs as a worker thread only');

/** A turn ends with the step that it runs out in. */
const TURN_MS = 50;

const detection = createDecodedScanner(workerData as DetectionOptions);
/** Searches that have begun and are not done, by the ids of their jobs. */
const begun = new Map<number, Steps<Matches>>();

/** Texts of searches that are still to begin. */
const arrived = new Map<number, string[]>();

port.on('message', (order: Order) => {
  if (order.kind === 'drop') {
    begun.delete(order.id);
    arrived.delete(order.id);
    return;
  }
  if (order.kind === 'texts') {
    const texts = arrived.get(order.id) ?? [];
    arrived.set(order.id, texts);
    return putTogether(texts, order);
  }
  const answer = turn(order);
  port.postMessage(answer, answer.found ? [answer.found.numbers.buffer] : []);
});

function turn({ id, search }: Order & { kind: 'turn' }): Answer {
  const texts = arrived.get(id) ?? search?.texts ?? [];
  arrived.delete(id);
  const steps = search ? searching({ ...search, texts }, detection) : begun.get(id);
  if (!steps) return { id, failed: 'fault' };
  const end = performance.now() + TURN_MS;
  try {
    do {
      const step = steps.next();
      if (step.done !== true) continue;
      begun.delete(id);
      const found = packMatches(step.value);
      return found ? { id, found } : { id, failed: 'too many matches' };
    } while (performance.now() < end);
  } catch {
    // What was thrown may tell of the text.
    begun.delete(id);
    return { id, failed: 'fault' };
  }
  begun.set(id, steps);
  return { id };
}
