import { rowText } from '../harness/row-text.ts';
import { genesis, link } from '#/seal/chain.ts';
import { ROW_FIELDS, type Field } from '#/seal/row-fields.ts';
import type { AuditRow } from '#/seal/row.ts';
import { periodsAt } from '#/meter/limits/periods.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import type { UsageDimension, UsageLine } from '#/ports/usage.ts';
import type { Usage } from '#/wire/answer/usage.ts';
import { callIdAt, StrandBuilder } from './ledger-rows.ts';

export const HOUR = 3_600_000;
/** One instant for all that a file tests. */
export const NOW = Date.now();
export const ORGANIZATION = 'team/acme';

/** Every field that rows may lack. */
const SOMETIMES: Partial<AuditRow> = Object.fromEntries(
  Object.entries<Field>(ROW_FIELDS).flatMap(([name, { when, example }]) =>
    when === undefined ? [] : [[name, example]],
  ),
);

/** A strand whose rows, the `latest` first, differ from one another in what usage is told apart by. */
export function variedRows(
  count: number,
  spacing: number,
  latest = NOW - HOUR,
): { rows: SealedRow[]; said: AuditRow[] } {
  const template = JSON.parse(new StrandBuilder().seal().row) as AuditRow;
  const { strand } = new StrandBuilder();
  let before = genesis(strand);
  const rows: SealedRow[] = [];
  const said: AuditRow[] = [];
  for (let index = 0; index < count; index++) {
    const at = latest - index * spacing;
    const outcome = (['served', 'served', 'refused', 'failed', 'hung_up', 'abandoned'] as const)[index % 6]!;
    const asked = outcome !== 'refused';
    const row: AuditRow = {
      ...template,
      // No reader of usage may stumble over a field that it does not ask for.
      ...(index % 2 === 0 && SOMETIMES),
      at: new Date(at).toISOString(),
      cache_hit: index % 12 === 1 ? 'exact' : 'none',
      call_id: callIdAt(at),
      cost_nano_eur: String(index * 1000),
      organization: ORGANIZATION,
      outcome,
      provider: asked ? 'upstream' : null,
      // Texts that need escapes are read in another way.
      provider_model: asked ? ['plain', 'qu"ote\\', 'nul\u0000', 'ünï « "usage":{'][index % 4]! : null,
      reason: index % 5 === 0 ? '"outcome":"refused","provider":"liar"' : null,
      sequence: index + 1,
      strand,
      usage: asked
        ? {
            ...{ input: index, cacheRead: 1, cacheWrite5m: 2, cacheWrite1h: 3, output: index % 7, reasoning: 4 },
            ...(index % 3 === 0 && { inputAudio: 5, inputImage: 6, cacheReadAudio: 7, outputAudio: 8, outputImage: 9 }),
          }
        : null,
      workload: `team/w${index % 3}`,
    };
    const text = rowText(row);
    before = link(before, text);
    const { call_id: callId, workload } = row;
    const sealed = { strand, sequence: row.sequence, callId, at, organization: ORGANIZATION, workload };
    rows.push({ ...sealed, cost: BigInt(row.cost_nano_eur), row: text, link: before });
    said.push(row);
  }
  return { rows, said };
}

/** The same question answered by adding up rows here. */
export function added(
  said: readonly AuditRow[],
  by: readonly UsageDimension[],
  zone: string,
  from: string,
  to: string,
) {
  const lines = new Map<string, UsageLine>();
  for (const row of said) {
    const { day } = periodsAt(Date.parse(row.at), zone);
    if (day < from || day > to) continue;
    const key = {
      ...(by.includes('workload') && { workload: row.workload }),
      ...(by.includes('model') && {
        provider: row.provider ?? '',
        // PostgreSQL has no such character.
        model: (row.provider_model ?? '').replaceAll('\u0000', '\ufffd'),
      }),
      ...(by.includes('day') && { day }),
    };
    const id = JSON.stringify(key);
    const known = lines.get(id);
    const is = (outcome: string): number => Number(row.outcome === outcome);
    const usage = row.usage ?? { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };
    const tokens = known?.tokens;
    const {
      inputAudio = 0,
      inputImage = 0,
      cacheReadAudio = 0,
      outputAudio = 0,
      outputImage = 0,
    }: Partial<Usage> = usage;
    lines.set(id, {
      ...key,
      calls: (known?.calls ?? 0) + 1,
      refused: (known?.refused ?? 0) + is('refused'),
      failed: (known?.failed ?? 0) + is('failed'),
      hungUp: (known?.hungUp ?? 0) + is('hung_up'),
      abandoned: (known?.abandoned ?? 0) + is('abandoned'),
      cacheHits: (known?.cacheHits ?? 0) + Number(row.cache_hit === 'exact'),
      tokens: {
        input: usage.input + inputAudio + inputImage + (tokens?.input ?? 0),
        cacheRead: usage.cacheRead + cacheReadAudio + (tokens?.cacheRead ?? 0),
        cacheWrite5m: usage.cacheWrite5m + (tokens?.cacheWrite5m ?? 0),
        cacheWrite1h: usage.cacheWrite1h + (tokens?.cacheWrite1h ?? 0),
        output: usage.output + outputAudio + outputImage + (tokens?.output ?? 0),
        reasoning: usage.reasoning + (tokens?.reasoning ?? 0),
      },
      cost: BigInt(row.cost_nano_eur) + (known?.cost ?? 0n),
    });
  }
  return lines;
}

/** In an order of their own, whatever order they came in. */
export const byKey = (lines: Iterable<UsageLine>): UsageLine[] =>
  [...lines].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
const nameOf = ({ workload, provider, model, day }: UsageLine): string =>
  JSON.stringify([workload, provider, model, day]);
/** The day of an instant, in UTC. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** What builds before sums by hour ran to fold: it must go on working against any later schema, and nothing be lost by it. */
export const OLD_FOLD = `
WITH old AS (
  DELETE FROM audit_usage
  WHERE ctid = ANY (ARRAY(
    SELECT ctid
    FROM audit_usage
    WHERE strand <> '00000000-0000-0000-0000-000000000000' AND quarter < $1::timestamptz
    LIMIT $2::bigint
    FOR UPDATE SKIP LOCKED
  ))
  RETURNING *
), folded AS (
  INSERT INTO audit_usage AS usage (
    organization, quarter, workload, provider, model, strand,
    calls, refused, failed, hung_up, abandoned, cache_hits, input_tokens, cache_read_tokens, cache_write_5m_tokens,
    cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano_eur
  )
  SELECT
    organization, quarter, workload, provider, model, '00000000-0000-0000-0000-000000000000'::uuid,
    sum(calls), sum(refused), sum(failed), sum(hung_up), sum(abandoned), sum(cache_hits), sum(input_tokens),
    sum(cache_read_tokens), sum(cache_write_5m_tokens), sum(cache_write_1h_tokens), sum(output_tokens),
    sum(reasoning_tokens), sum(cost_nano_eur)
  FROM old
  GROUP BY 1, 2, 3, 4, 5
  ON CONFLICT (organization, quarter, workload, provider, model, strand) DO UPDATE SET
    calls = usage.calls + excluded.calls,
    refused = usage.refused + excluded.refused,
    failed = usage.failed + excluded.failed,
    hung_up = usage.hung_up + excluded.hung_up,
    abandoned = usage.abandoned + excluded.abandoned,
    cache_hits = usage.cache_hits + excluded.cache_hits,
    input_tokens = usage.input_tokens + excluded.input_tokens,
    cache_read_tokens = usage.cache_read_tokens + excluded.cache_read_tokens,
    cache_write_5m_tokens = usage.cache_write_5m_tokens + excluded.cache_write_5m_tokens,
    cache_write_1h_tokens = usage.cache_write_1h_tokens + excluded.cache_write_1h_tokens,
    output_tokens = usage.output_tokens + excluded.output_tokens,
    reasoning_tokens = usage.reasoning_tokens + excluded.reasoning_tokens,
    cost_nano_eur = usage.cost_nano_eur + excluded.cost_nano_eur
), summed AS (
  INSERT INTO audit_usage_days AS days (
    organization, day, workload, provider, model,
    calls, refused, failed, hung_up, abandoned, cache_hits, input_tokens, cache_read_tokens, cache_write_5m_tokens,
    cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano_eur
  )
  SELECT
    organization, date_trunc('day', quarter, 'UTC'), workload, provider, model,
    sum(calls), sum(refused), sum(failed), sum(hung_up), sum(abandoned), sum(cache_hits), sum(input_tokens),
    sum(cache_read_tokens), sum(cache_write_5m_tokens), sum(cache_write_1h_tokens), sum(output_tokens),
    sum(reasoning_tokens), sum(cost_nano_eur)
  FROM old
  GROUP BY 1, 2, 3, 4, 5
  ON CONFLICT (organization, day, workload, provider, model) DO UPDATE SET
    calls = days.calls + excluded.calls,
    refused = days.refused + excluded.refused,
    failed = days.failed + excluded.failed,
    hung_up = days.hung_up + excluded.hung_up,
    abandoned = days.abandoned + excluded.abandoned,
    cache_hits = days.cache_hits + excluded.cache_hits,
    input_tokens = days.input_tokens + excluded.input_tokens,
    cache_read_tokens = days.cache_read_tokens + excluded.cache_read_tokens,
    cache_write_5m_tokens = days.cache_write_5m_tokens + excluded.cache_write_5m_tokens,
    cache_write_1h_tokens = days.cache_write_1h_tokens + excluded.cache_write_1h_tokens,
    output_tokens = days.output_tokens + excluded.output_tokens,
    reasoning_tokens = days.reasoning_tokens + excluded.reasoning_tokens,
    cost_nano_eur = days.cost_nano_eur + excluded.cost_nano_eur
)
SELECT count(*)::int AS folded FROM old`;

/** What the build before this one ran to write a batch: it must go on working against any later schema. */
export const OLD_APPEND = `
WITH batch AS (
  SELECT *
  FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::bytea[])
    AS batch (call_id, strand, sequence, at, organization, workload, cost_nano_eur, row_text, link)
), inserted AS (
  INSERT INTO audit_rows (call_id, strand, sequence, at, organization, workload, cost_nano_eur, row_text, link)
  SELECT call_id, strand, sequence, at, organization, workload, cost_nano_eur, row_text, link FROM batch
  ON CONFLICT (call_id) DO NOTHING
  RETURNING strand, sequence, at, organization, workload, cost_nano_eur
), summed AS (
  INSERT INTO audit_spend AS spend (organization, workload, strand, quarter, cost_nano_eur, calls)
  SELECT organization, workload, strand, date_bin('15 minutes', at, 'epoch'), sum(cost_nano_eur), count(*)
  FROM inserted
  GROUP BY 1, 2, 3, 4
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (organization, workload, strand, quarter) DO UPDATE
  SET cost_nano_eur = spend.cost_nano_eur + excluded.cost_nano_eur, calls = spend.calls + excluded.calls
)
INSERT INTO audit_superseded (strand, sequence, call_id, at, organization, workload, cost_nano_eur, row_text, link)
SELECT strand, sequence, call_id, at, organization, workload, cost_nano_eur, row_text, link
FROM batch
WHERE (SELECT count(*) FROM inserted) < cardinality($1)
  AND NOT EXISTS (SELECT FROM inserted WHERE inserted.strand = batch.strand AND inserted.sequence = batch.sequence)
  AND NOT EXISTS (
    SELECT FROM audit_rows
    WHERE audit_rows.call_id = batch.call_id
      AND audit_rows.strand = batch.strand
      AND audit_rows.sequence = batch.sequence
  )
ON CONFLICT (strand, sequence) DO NOTHING`;

/** Rows as the parameters of `OLD_APPEND`. */
export function parametersOf(rows: readonly SealedRow[]): unknown[] {
  return [
    rows.map((row) => row.callId),
    rows.map((row) => row.strand),
    rows.map((row) => String(row.sequence)),
    rows.map((row) => new Date(row.at).toISOString()),
    rows.map((row) => row.organization),
    rows.map((row) => row.workload),
    rows.map((row) => String(row.cost)),
    rows.map((row) => row.row),
    rows.map((row) => Buffer.from(row.link, 'hex')),
  ];
}
