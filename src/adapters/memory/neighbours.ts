import { randomUUID } from 'node:crypto';
import type { Neighbours } from '#/ports/neighbours.ts';

/** Of a process that has none. */
export function openNoNeighbours(): Neighbours {
  return { name: randomUUID(), send: async () => undefined, hear: () => undefined, close: () => undefined };
}
