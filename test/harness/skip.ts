import type { TestOptions } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Why the test does not run here; a skipped test without one fails the run. */
    skipReason?: string;
  }
}

/**
 * Options of a test or suite that runs only where `condition` holds: `describe('cluster', skipUnless(url, 'no cluster
 * given in TEST_CLUSTER_URL'), () => …)`. The reason is printed by the run. Throws when the reason is empty.
 */
export function skipUnless(condition: unknown, reason: string): TestOptions {
  if (reason.trim() === '') throw new TypeError('a skipped test needs a reason');
  return condition ? {} : { skip: true, meta: { skipReason: reason } };
}
