import { orderedCounts, refuseNonFinite } from '#/wire/document/canonical-json.ts';
import type { AuditRow, RowPosition, UnplacedRow } from './row.ts';

// `make docs` writes this file: change src/seal/row-fields.ts instead.

/** Every member, also those that may be missing. */
type Complete<T> = Readonly<Record<keyof T, unknown>>;

/**
 * A copy whose members are in RFC 8785 order at every level, so that JSON.stringify writes the canonical form. Throws
 * RangeError on a number that JSON cannot hold.
 */
export function orderedRow(row: UnplacedRow, position: RowPosition): Complete<AuditRow> {
  if (!Number.isFinite(row.duration_ms + position.sequence + row.status))
    refuseNonFinite(row.duration_ms, position.sequence, row.status);
  return {
    at: row.at,
    attempts: row.attempts.length === 0 ? row.attempts : row.attempts.map(orderedAttempt),
    cache_hit: row.cache_hit,
    call_id: row.call_id,
    code: row.code,
    config_revision: row.config_revision,
    cost_nano_eur: row.cost_nano_eur,
    dlp: orderedDlp(row.dlp),
    duration_ms: row.duration_ms,
    held_nano_eur: row.held_nano_eur,
    jurisdiction: row.jurisdiction,
    key: row.key,
    losses: row.losses,
    model: row.model,
    organization: row.organization,
    outcome: row.outcome,
    parent: row.parent,
    person: row.person,
    price: row.price,
    provider: row.provider,
    provider_model: row.provider_model,
    provider_response_id: row.provider_response_id,
    reason: row.reason,
    route: row.route,
    scope: row.scope,
    sequence: position.sequence,
    service_tier: row.service_tier,
    shadow: row.shadow,
    status: row.status,
    step: row.step,
    strand: position.strand,
    stream: row.stream,
    surface: row.surface,
    tool: row.tool && orderedTool(row.tool),
    tool_servers: row.tool_servers,
    units: row.units && orderedUnits(row.units),
    usage: row.usage === null ? null : orderedUsage(row.usage),
    usage_source: row.usage_source,
    v: row.v,
    wire_format: row.wire_format,
    workload: row.workload,
  };
}

type Attempt = AuditRow['attempts'][number];

function orderedAttempt(value: Attempt): Complete<Attempt> {
  if (!Number.isFinite(value.duration_ms + (value.status ?? 0))) refuseNonFinite(value.duration_ms, value.status ?? 0);
  return {
    duration_ms: value.duration_ms,
    error: value.error,
    host: value.host,
    jurisdiction: value.jurisdiction,
    model: value.model,
    provider: value.provider,
    sent: value.sent,
    status: value.status,
  };
}

type Dlp = AuditRow['dlp'];

function orderedDlp(value: Dlp): Complete<Dlp> {
  return {
    detectors: value.detectors,
    findings: orderedCounts(value.findings),
    mode: value.mode,
    unscanned: value.unscanned,
  };
}

type Approval = NonNullable<NonNullable<AuditRow['tool']>['approval']>;

function orderedApproval(value: Approval): Complete<Approval> {
  return {
    at: value.at,
    by: value.by,
    id: value.id,
    state: value.state,
  };
}

type Tool = NonNullable<AuditRow['tool']>;

function orderedTool(value: Tool): Complete<Tool> {
  if (!Number.isFinite((value.answers ?? 0) + value.result_bytes))
    refuseNonFinite(value.answers ?? 0, value.result_bytes);
  return {
    answers: value.answers === 0 ? undefined : value.answers,
    approval: value.approval && orderedApproval(value.approval),
    arguments: value.arguments,
    asks: value.asks,
    definition: value.definition,
    eras: value.eras,
    is_error: value.is_error,
    method: value.method,
    result_bytes: value.result_bytes,
    result_findings: orderedCounts(value.result_findings),
    result_mode: value.result_mode,
  };
}

type Units = NonNullable<AuditRow['units']>;

function orderedUnits(value: Units): Complete<Units> {
  const sum =
    (value.calls ?? 0) +
    (value.containers ?? 0) +
    (value.fileSearches ?? 0) +
    (value.images ?? 0) +
    (value.pages ?? 0) +
    (value.searches ?? 0) +
    (value.seconds ?? 0);
  if (!Number.isFinite(sum))
    refuseNonFinite(
      value.calls ?? 0,
      value.containers ?? 0,
      value.fileSearches ?? 0,
      value.images ?? 0,
      value.pages ?? 0,
      value.searches ?? 0,
      value.seconds ?? 0,
    );
  return {
    calls: value.calls === 0 ? undefined : value.calls,
    containers: value.containers === 0 ? undefined : value.containers,
    fileSearches: value.fileSearches === 0 ? undefined : value.fileSearches,
    images: value.images === 0 ? undefined : value.images,
    pages: value.pages === 0 ? undefined : value.pages,
    searches: value.searches === 0 ? undefined : value.searches,
    seconds: value.seconds === 0 ? undefined : value.seconds,
  };
}

type Usage = NonNullable<AuditRow['usage']>;

function orderedUsage(value: Usage): Complete<Usage> {
  const sum =
    value.cacheRead +
    (value.cacheReadAudio ?? 0) +
    value.cacheWrite1h +
    value.cacheWrite5m +
    value.input +
    (value.inputAudio ?? 0) +
    (value.inputImage ?? 0) +
    value.output +
    (value.outputAudio ?? 0) +
    (value.outputImage ?? 0) +
    value.reasoning;
  if (!Number.isFinite(sum))
    refuseNonFinite(
      value.cacheRead,
      value.cacheReadAudio ?? 0,
      value.cacheWrite1h,
      value.cacheWrite5m,
      value.input,
      value.inputAudio ?? 0,
      value.inputImage ?? 0,
      value.output,
      value.outputAudio ?? 0,
      value.outputImage ?? 0,
      value.reasoning,
    );
  return {
    cacheRead: value.cacheRead,
    cacheReadAudio: value.cacheReadAudio === 0 ? undefined : value.cacheReadAudio,
    cacheWrite1h: value.cacheWrite1h,
    cacheWrite5m: value.cacheWrite5m,
    input: value.input,
    inputAudio: value.inputAudio === 0 ? undefined : value.inputAudio,
    inputImage: value.inputImage === 0 ? undefined : value.inputImage,
    output: value.output,
    outputAudio: value.outputAudio === 0 ? undefined : value.outputAudio,
    outputImage: value.outputImage === 0 ? undefined : value.outputImage,
    reasoning: value.reasoning,
  };
}
