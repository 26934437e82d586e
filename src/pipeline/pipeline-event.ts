import type { DetectorSet } from '#/inspect/detector-marks.ts';
import type { SettlementEvent } from '#/meter/settlement/settlement.ts';
import type { OpenHold } from '#/ports/limit-counters.ts';
import type { UpstreamEvent } from '#/dispatch/upstream/upstreams.ts';
import type { ListEvent } from './tools/server-lists.ts';
import type { ReadMethod } from '#/call/server-read.ts';
import type { ApprovalEvent } from './tools/approval.ts';
import type { OwnershipEvent } from '#/dispatch/kept/ownership.ts';
import type { PinEvent } from '#/dispatch/tools/pin-keeper.ts';

/** A fact about the pipeline, for log and metrics. */
export type PipelineEvent =
  | {
      readonly kind:
        | 'ledger.fault'
        | 'journal.fault'
        | 'sweep.fault'
        | 'checkpoint.fault'
        | 'anchor.fault'
        | 'cache.fault'
        | 'content.fault'
        | 'jobs.fault'
        | 'approvals.fault';
      readonly error: unknown;
    }
  /** Rows have begun to wait on disk for the ledger, or it has them all. */
  | { readonly kind: 'journal.begun' | 'journal.ended' }
  | { readonly kind: 'journal.refused'; readonly rows: number }
  | { readonly kind: 'cache.asked'; readonly result: 'hit' | 'miss' }
  | { readonly kind: 'content.dropped'; readonly callId: string }
  | { readonly kind: 'calls.abandoned'; readonly holds: readonly OpenHold[] }
  | { readonly kind: 'call.sealed'; readonly outcome: string; readonly code: string | null }
  /** A set of detectors is used for the first time. */
  | { readonly kind: 'detectors.used'; readonly set: DetectorSet }
  /** A provider reported an implausible usage: our own count is billed. */
  | { readonly kind: 'usage.implausible'; readonly provider: string; readonly callId: string }
  /** A policy in shadow mode would have decided otherwise; `field`: by which of its fields. */
  | { readonly kind: 'shadow.differed'; readonly field: string }
  /** A call of a tool of an MCP server is over. */
  | { readonly kind: 'tool.called'; readonly server: string; readonly outcome: string; readonly durationMs: number }
  /** A resource, a prompt or completions of an MCP server were read. */
  | {
      readonly kind: 'server.read';
      readonly server: string;
      readonly method: ReadMethod;
      readonly outcome: string;
      readonly durationMs: number;
    }
  | ApprovalEvent
  | ListEvent
  | SettlementEvent
  | UpstreamEvent
  | OwnershipEvent
  | PinEvent;
