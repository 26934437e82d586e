-- Usage of quarters before $1 is kept without its strand, and by day (UTC) too: at most $2 sums at once. What a gateway is
-- just adding to is left for the next time: folding waits for nobody who may be waiting for it.
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
SELECT count(*)::int AS folded FROM old
