import { CATALOGUE } from '#/errors/catalogue.ts';
import type { GatewayError } from '#/errors/gateway-error.ts';
import type { Surface } from '#/call/call.ts';
import type { RowDraft } from './ledger-writer.ts';

/** A call that ended while nobody worked on it: its key may be gone, and its workload. */
export interface EndedCall {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly organization: string;
  readonly workload: string;
  readonly key: string;
  readonly surface: Surface;
  /** Asked for, as `<provider>/<model>`. */
  readonly model: string;
  /** Of the configuration in force. */
  readonly revision: string;
  /** Of the policy in force, if there still is one. */
  readonly mode: string;
  /** Why it was refused; undefined: the client gave it up. */
  readonly error: GatewayError | undefined;
}

/** Its row: nothing was done, nothing is billed. */
export function endedRow(call: EndedCall, now: number): RowDraft {
  const { error } = call;
  return {
    row: {
      attempts: [],
      at: new Date(call.startedAt).toISOString(),
      cache_hit: 'none',
      call_id: call.id,
      code: error?.code ?? null,
      config_revision: call.revision,
      cost_nano_eur: '0',
      dlp: { findings: {}, mode: call.mode, unscanned: [] },
      duration_ms: Math.max(0, now - call.startedAt),
      held_nano_eur: '0',
      jurisdiction: null,
      key: call.key,
      losses: [],
      model: call.model,
      organization: call.organization,
      outcome: error ? 'refused' : 'hung_up',
      price: null,
      provider: null,
      provider_model: null,
      provider_response_id: null,
      reason: error?.message ?? null,
      route: [],
      status: error ? CATALOGUE[error.code].status : 499,
      step: 'door',
      stream: false,
      surface: call.surface,
      usage: null,
      usage_source: null,
      v: 1,
      wire_format: 'documents',
      workload: call.workload,
    },
    settlement: undefined,
  };
}
