import { CATALOGUE } from '#/errors/catalogue.ts';
import type { GatewayError } from '#/errors/gateway-error.ts';
import type { Surface } from '#/call/call.ts';
import type { OpenHold } from '#/ports/limit-counters.ts';
import type { RowDraft } from './ledger-writer.ts';
import { ROW_FIELDS, type Field } from './row-fields.ts';
import { inOrder } from './row-forms.ts';
import type { AuditRow, StatedRow } from './row.ts';

/** A call that ended without a process: its key and its workload may be deleted. */
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
  const row = untouchedRow({
    at: new Date(call.startedAt).toISOString(),
    call_id: call.id,
    code: error?.code ?? null,
    config_revision: call.revision,
    duration_ms: Math.max(0, now - call.startedAt),
    key: call.key,
    mode: call.mode,
    model: call.model,
    organization: call.organization,
    outcome: error ? 'refused' : 'hung_up',
    reason: error?.message ?? null,
    route: [],
    status: error ? CATALOGUE[error.code].status : 499,
    step: 'admit',
    surface: call.surface,
    wire_format: 'documents',
    workload: call.workload,
  });
  return { row, settlement: undefined };
}

/** What a hold says of its call, for the row of one whose process dies. */
type HeldDraft = Pick<
  AuditRow,
  | 'config_revision'
  | 'jurisdiction'
  | 'key'
  | 'model'
  | 'provider'
  | 'provider_model'
  | 'stream'
  | 'surface'
  | 'wire_format'
> & { readonly mode: string };

/** The row of a call whose process died: billed as it was held. // design 2 */
export function abandonedRow({ callId, organization, workload, amount, tokens, at, draft }: OpenHold): RowDraft {
  const { config_revision, jurisdiction, key, mode, model, provider, provider_model, stream, surface, wire_format } =
    JSON.parse(draft) as HeldDraft;
  const row = untouchedRow({
    ...{ config_revision, jurisdiction, key, mode, model, provider, provider_model, stream, surface, wire_format },
    at: new Date(at).toISOString(),
    call_id: callId,
    cost_nano_eur: amount.toString(),
    held_nano_eur: amount.toString(),
    organization,
    outcome: 'abandoned',
    reason: 'The process that dispatched the call ended before the call did.',
    status: 0,
    step: 'dispatch',
    usage_source: 'held',
    workload,
  });
  return { row, settlement: { callId, organization, cost: amount, tokens } };
}

type Untold = {
  [K in keyof typeof ROW_FIELDS]: (typeof ROW_FIELDS)[K] extends
    | { readonly nothing: unknown }
    | { readonly when: string }
    ? K
    : never;
}[keyof typeof ROW_FIELDS];

/** Fields that say by themselves that nothing was done, and those that are then missing. */
const NOTHING = Object.fromEntries(
  inOrder<Field>(ROW_FIELDS).flatMap(([name, its]) =>
    'nothing' in its || its.when !== undefined ? [[name, its.nothing]] : [],
  ),
) as Pick<StatedRow, Untold & keyof StatedRow>;

/** The row of a call without a process, except for the facts given here. */
function untouchedRow({
  mode,
  ...said
}: Omit<StatedRow, Untold | 'dlp'> & Partial<StatedRow> & { readonly mode: string }): StatedRow {
  return { ...NOTHING, dlp: { detectors: undefined, findings: {}, mode, unscanned: [] }, ...said };
}
