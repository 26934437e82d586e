import type { DocumentFault } from '#/ports/documents.ts';
import type { JobQueue } from './jobs/queue.ts';
import type { WorkerPool } from './jobs/worker-pool.ts';

/** Whether documents can be processed, as far as was tried. */
export interface Health {
  /** Why not, or undefined when they can. */
  notReady(): string | undefined;
  /** Tries until it succeeds: every language's data is what it should be, a page is drawn, a word recognized. */
  start(): Promise<void>;
  /** Not ready from now on. */
  drain(): void;
}

const RETRY_MS = 5000;

export function createHealth(queue: JobQueue, pool: WorkerPool, faultyLanguages: () => readonly string[]): Health {
  let reason: string | undefined = 'starting';
  let draining = false;
  const attempt = async (): Promise<string | undefined> => {
    const faulty = faultyLanguages();
    if (faulty.length > 0) return `language data missing or damaged: ${faulty.join(', ')}`;
    const { signal } = new AbortController();
    using place = queue.enter();
    await place.turn(signal);
    const outcome = await pool.run({ verb: 'check' }, signal);
    return outcome.kind === 'fault' ? describe(outcome.fault) : undefined;
  };
  return {
    notReady: () => (draining ? 'draining' : reason),
    async start() {
      for (;;) {
        reason = await attempt().catch(() => 'the self-check is still in the queue');
        if (reason === undefined || draining) return;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    },
    drain() {
      draining = true;
    },
  };
}

function describe(fault: DocumentFault): string {
  return `self-check: ${fault.kind}: ${fault.message}`;
}
