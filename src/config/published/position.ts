import type { Position } from '#/config/published/config-store.ts';

/** Less than 0 when the first is older. */
export function comparePositions(one: Position, other: Position): number {
  return one.epoch - other.epoch || one.seq - other.seq;
}
