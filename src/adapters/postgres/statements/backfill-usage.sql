-- Counts at most $1 rows that were written before sums were kept, of one strand, and says how many there were.
WITH todo AS (
  SELECT strand, done, least(upto, done + $1::bigint) AS until
  FROM audit_usage_backfill
  WHERE done < upto
  ORDER BY strand
  LIMIT 1
  FOR UPDATE SKIP LOCKED
), counted AS (
  INSERT INTO audit_usage AS usage (
    organization, quarter, workload, provider, model, strand,
    calls, refused, failed, hung_up, abandoned, cache_hits, input_tokens, cache_read_tokens, cache_write_5m_tokens,
    cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano_eur
  )
  SELECT
    organization, date_bin('15 minutes', at, 'epoch'), workload, provider, model, strand, count(*),
    count(*) FILTER (WHERE outcome = 'refused'), count(*) FILTER (WHERE outcome = 'failed'),
    count(*) FILTER (WHERE outcome = 'hung_up'), count(*) FILTER (WHERE outcome = 'abandoned'),
    count(*) FILTER (WHERE cached), sum(input), sum(cache_read), sum(cache_write_5m), sum(cache_write_1h),
    sum(output), sum(reasoning), sum(cost_nano_eur)
  FROM todo
  JOIN audit_rows USING (strand)
  CROSS JOIN LATERAL row_facts(row_text, true)
  WHERE sequence > done AND sequence <= until
  GROUP BY 1, 2, 3, 4, 5, 6
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
)
UPDATE audit_usage_backfill AS backfill
SET done = todo.until
FROM todo
WHERE backfill.strand = todo.strand
RETURNING (todo.until - todo.done)::int AS counted
