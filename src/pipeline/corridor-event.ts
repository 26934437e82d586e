import type { OpenHold } from '#ports/limit-counters.ts';
import type { EndpointEvent } from '#route/endpoints.ts';

/** Facts of the corridor for log and metrics; never content. */
export type CorridorEvent =
  | {
      readonly kind:
        | 'ledger.fault'
        | 'settle.fault'
        | 'sweep.fault'
        | 'checkpoint.fault'
        | 'anchor.fault'
        | 'cache.fault'
        | 'content.fault'
        | 'jobs.fault';
      readonly error: unknown;
    }
  | { readonly kind: 'cache.asked'; readonly result: 'hit' | 'miss' }
  | { readonly kind: 'content.dropped'; readonly callId: string }
  | { readonly kind: 'counters.restored'; readonly organization: string }
  | { readonly kind: 'calls.abandoned'; readonly holds: readonly OpenHold[] }
  | { readonly kind: 'call.sealed'; readonly outcome: string; readonly code: string | null }
  /** A policy in shadow mode would have decided otherwise; `field`: by which of its fields. */
  | { readonly kind: 'shadow.differed'; readonly field: string }
  | EndpointEvent;
