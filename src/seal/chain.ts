import { hash } from 'node:crypto';
import type { Units } from '#/call/units.ts';
import { canonicalJson, finite } from '#/wire/document/canonical-json.ts';
import type { AuditRow } from './row.ts';

/** The link before the first row of a strand: SHA-256 of `gatewarden strand v1`, a line feed and the strand's id. */
export function genesis(strand: string): string {
  return hash('sha256', `gatewarden strand v1\n${strand}`, 'hex');
}

/** What a link is the hash of; filled and hashed at once, never kept. */
const both = Buffer.alloc(64);

/** The link of a row: SHA-256(link before || SHA-256(row)), both 32 bytes; links are passed as 64 hex digits. */
export function link(previousLink: string, canonicalRowText: string): string {
  writePrevious(previousLink);
  // As text of one byte a character: a buffer would cost more to make than to fill.
  both.write(hash('sha256', canonicalRowText, 'binary'), 32, 'latin1');
  return hash('sha256', both, 'hex');
}

/** As `link`, of a row of which nothing is known but its SHA-256 (32 bytes). */
export function linkOfHash(previousLink: string, rowHash: Uint8Array): string {
  if (rowHash.length !== 32) throw new RangeError('the hash of a row is 32 bytes');
  writePrevious(previousLink);
  both.set(rowHash, 32);
  return hash('sha256', both, 'hex');
}

function writePrevious(previousLink: string): void {
  if (previousLink.length !== 64 || both.write(previousLink, 0, 32, 'hex') !== 32) {
    throw new RangeError('a link is 64 hexadecimal digits');
  }
}

/** A row that has no place in a chain yet. */
export type UnplacedRow = Omit<AuditRow, keyof Place>;

type Place = Pick<AuditRow, 'strand' | 'sequence'>;

/**
 * RFC 8785 text of a row: what is stored and hashed. Lone surrogates, which RFC 8785 has no form for, become
 * U+FFFD. Throws RangeError on a number that JSON cannot hold.
 */
export function canonicalRow(row: AuditRow): string {
  return canonicalRowAt(row, row);
}

/** As `canonicalRow`, of a row that is given its place here. */
export function canonicalRowAt(row: UnplacedRow, place: Place): string {
  const names = Object.keys(row.dlp.findings);
  const copy = ordered(row, place, names);
  if (names.some(keepsNoOrder)) return canonicalJson({ ...copy, dlp: row.dlp });
  const text = JSON.stringify(copy);
  // `\ud…` is how lone surrogates are written; an escaped backslash before "ud" takes the slow way in vain.
  return text.includes('\\ud') ? canonicalJson(copy) : text;
}

/** Whether a JavaScript object would not keep a member of this name where it was put. */
function keepsNoOrder(name: string): boolean {
  const first = name.charCodeAt(0);
  return (first >= 48 && first <= 57) || name === '__proto__';
}

type Counted = NonNullable<AuditRow['usage']>;
type Attempt = AuditRow['attempts'][number];

/** Every member, optional ones too: one that is added to the type and forgotten here does not compile. */
type Complete<T> = Readonly<Record<keyof T, unknown>>;

/** A copy whose members are in RFC 8785 order at every level, so that JSON.stringify writes the canonical form. */
function ordered(row: UnplacedRow, place: Place, findings: readonly string[]): Complete<AuditRow> {
  return {
    at: row.at,
    attempts: row.attempts.length === 0 ? row.attempts : row.attempts.map(orderedAttempt),
    cache_hit: row.cache_hit,
    call_id: row.call_id,
    code: row.code,
    config_revision: row.config_revision,
    cost_nano_eur: row.cost_nano_eur,
    dlp: orderedDlp(row.dlp, findings),
    duration_ms: finite(row.duration_ms),
    held_nano_eur: row.held_nano_eur,
    jurisdiction: row.jurisdiction,
    key: row.key,
    losses: row.losses,
    model: row.model,
    organization: row.organization,
    outcome: row.outcome,
    price: row.price,
    provider: row.provider,
    provider_model: row.provider_model,
    provider_response_id: row.provider_response_id,
    reason: row.reason,
    // JSON.stringify leaves out members that are undefined.
    route: row.route,
    scope: row.scope,
    sequence: finite(place.sequence),
    service_tier: row.service_tier,
    shadow: row.shadow,
    status: finite(row.status),
    step: row.step,
    strand: place.strand,
    stream: row.stream,
    surface: row.surface,
    tool_servers: row.tool_servers,
    units: row.units && orderedUnits(row.units),
    usage: row.usage && orderedUsage(row.usage),
    usage_source: row.usage_source,
    v: row.v,
    wire_format: row.wire_format,
    workload: row.workload,
  };
}

function orderedDlp(dlp: AuditRow['dlp'], findings: readonly string[]): Complete<AuditRow['dlp']> {
  const { detectors, mode, unscanned } = dlp;
  return { detectors, findings: orderedCounts(dlp.findings, findings), mode, unscanned };
}

function orderedAttempt(attempt: Attempt): Complete<Attempt> {
  const { duration_ms, error, host, jurisdiction, model, provider, sent, status } = attempt;
  return {
    duration_ms: finite(duration_ms),
    error,
    host,
    jurisdiction,
    model,
    provider,
    sent,
    status: status && finite(status),
  };
}

function orderedUsage(usage: Counted): Complete<Counted> {
  return {
    cacheRead: finite(usage.cacheRead),
    cacheReadAudio: held(usage.cacheReadAudio),
    cacheWrite1h: finite(usage.cacheWrite1h),
    cacheWrite5m: finite(usage.cacheWrite5m),
    input: finite(usage.input),
    inputAudio: held(usage.inputAudio),
    inputImage: held(usage.inputImage),
    output: finite(usage.output),
    outputAudio: held(usage.outputAudio),
    outputImage: held(usage.outputImage),
    reasoning: finite(usage.reasoning),
  };
}

function orderedUnits(units: Units): Complete<Units> {
  return {
    calls: held(units.calls),
    containers: held(units.containers),
    fileSearches: held(units.fileSearches),
    images: held(units.images),
    pages: held(units.pages),
    searches: held(units.searches),
    seconds: held(units.seconds),
  };
}

/** What there is none of is left out, so that rows of before keep their form. */
function held(count: number | undefined): number | undefined {
  return count === undefined || count === 0 ? undefined : finite(count);
}

function orderedCounts(
  counts: Readonly<Record<string, number>>,
  names: readonly string[],
): Readonly<Record<string, number>> {
  const sorted: Record<string, number> = {};
  for (const name of inOrder(names) ? names : names.toSorted()) sorted[name] = finite(counts[name]!);
  return sorted;
}

function inOrder(names: readonly string[]): boolean {
  for (let at = 1; at < names.length; at++) if (names[at - 1]! > names[at]!) return false;
  return true;
}
