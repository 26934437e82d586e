import type { PolicyOrigin } from '#/config/snapshot.ts';

/** What a policy that is only watched would have decided otherwise. Facts only, never content. */
export interface Difference {
  /** Which field of the policy: `dlp.mode`. */
  readonly field: PolicyOrigin['field'];
  readonly text: string;
}
