import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/**
 * Default memory for the bodies of all requests in progress: half of the memory of the container (its
 * cgroup's limit, else the machine's memory), and no more than the heap may grow to, where half of a body goes.
 */
export function bodyMemory(): number {
  // Without a limit this is a number larger than any memory.
  const container = process.constrainedMemory();
  const memory = container > 0 ? Math.min(container, totalmem()) : totalmem();
  return Math.floor(Math.min(memory / 2, getHeapStatistics().heap_size_limit));
}
