import type { OpenHold } from './limit-counters.ts';

/** Open holds, read without blocking others, however many there are: not as of one instant. */
export interface OpenHolds {
  /** Those of these calls that are open. */
  findHolds(organization: string, callIds: readonly string[]): Promise<readonly OpenHold[]>;
  /** All that are open from before the question until after the answer, and maybe others; each once. */
  allHolds(organization: string): Promise<readonly OpenHold[]>;
}
