import { finite, amountIfAny, finiteIfAny, orderedCounts } from '#/wire/document/canonical-json.ts';
import type { AuditRow, RowPosition, UnplacedRow } from './row.ts';

// `make docs` writes this file: change src/seal/row-fields.ts instead.

/** Every member, also those that may be missing. */
type Complete<T> = Readonly<Record<keyof T, unknown>>;

/** A copy whose members are in RFC 8785 order at every level, so that JSON.stringify writes the canonical form. */
export function orderedRow(row: UnplacedRow, position: RowPosition): Complete<AuditRow> {
  return {
    at: row.at,
    attempts: row.attempts.length === 0 ? row.attempts : row.attempts.map(orderedAttempt),
    cache_hit: row.cache_hit,
    call_id: row.call_id,
    code: row.code,
    config_revision: row.config_revision,
    cost_nano_eur: row.cost_nano_eur,
    dlp: orderedDlp(row.dlp),
    duration_ms: finite(row.duration_ms),
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
    sequence: finite(position.sequence),
    service_tier: row.service_tier,
    shadow: row.shadow,
    status: finite(row.status),
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
  return {
    duration_ms: finite(value.duration_ms),
    error: value.error,
    host: value.host,
    jurisdiction: value.jurisdiction,
    model: value.model,
    provider: value.provider,
    sent: value.sent,
    status: finiteIfAny(value.status),
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

type Tool = NonNullable<AuditRow['tool']>;

function orderedTool(value: Tool): Complete<Tool> {
  return {
    answers: amountIfAny(value.answers),
    arguments: value.arguments,
    asks: value.asks,
    definition: value.definition,
    eras: value.eras,
    is_error: value.is_error,
    method: value.method,
    result_bytes: finite(value.result_bytes),
    result_findings: orderedCounts(value.result_findings),
    result_mode: value.result_mode,
  };
}

type Units = NonNullable<AuditRow['units']>;

function orderedUnits(value: Units): Complete<Units> {
  return {
    calls: amountIfAny(value.calls),
    containers: amountIfAny(value.containers),
    fileSearches: amountIfAny(value.fileSearches),
    images: amountIfAny(value.images),
    pages: amountIfAny(value.pages),
    searches: amountIfAny(value.searches),
    seconds: amountIfAny(value.seconds),
  };
}

type Usage = NonNullable<AuditRow['usage']>;

function orderedUsage(value: Usage): Complete<Usage> {
  return {
    cacheRead: finite(value.cacheRead),
    cacheReadAudio: amountIfAny(value.cacheReadAudio),
    cacheWrite1h: finite(value.cacheWrite1h),
    cacheWrite5m: finite(value.cacheWrite5m),
    input: finite(value.input),
    inputAudio: amountIfAny(value.inputAudio),
    inputImage: amountIfAny(value.inputImage),
    output: finite(value.output),
    outputAudio: amountIfAny(value.outputAudio),
    outputImage: amountIfAny(value.outputImage),
    reasoning: finite(value.reasoning),
  };
}
