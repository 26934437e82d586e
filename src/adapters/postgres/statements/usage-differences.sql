-- Where the sums are not those of the rows: at most twenty days (UTC). Quarters from $1 on are held against the days too, and
-- what is kept of edges against the folded quarters, each on its own; before it neither is kept. Days of which retention has
-- dropped rows are passed over, also when rows of such a day came later: what it signed of them is held against audit_spend.
WITH dropped AS (
  SELECT coalesce(max((substring(statement FROM '"before":"(\d{4}-(?:0[1-9]|1[0-2]))"') || '-01T00:00:00Z')::timestamptz), '-infinity') AS until
  FROM checkpoints
  WHERE number IN (SELECT checkpoint FROM checkpoint_carried UNION SELECT checkpoint FROM checkpoint_cuts)
), rows AS (
  SELECT
    organization, date_trunc('day', at, 'UTC') AS day, workload, provider, model, count(*) AS calls,
    count(*) FILTER (WHERE outcome = 'refused') AS refused,
    count(*) FILTER (WHERE outcome IN ('failed', 'hung_up', 'abandoned')) AS unserved,
    count(*) FILTER (WHERE cached) AS cache_hits,
    sum(input + cache_read + cache_write_5m + cache_write_1h + output + reasoning) AS tokens,
    sum(cost_nano_eur) AS cost
  FROM audit_rows
  LEFT JOIN audit_usage_backfill AS backfill USING (strand)
  CROSS JOIN LATERAL row_facts(row_text, true)
  WHERE backfill.strand IS NULL OR sequence <= backfill.done OR sequence > backfill.upto
  GROUP BY 1, 2, 3, 4, 5
), parts AS (
  SELECT organization, day, workload, provider, model, 'days' AS kept,
    calls, refused, failed + hung_up + abandoned AS unserved, cache_hits,
    input_tokens + cache_read_tokens + cache_write_5m_tokens
      + cache_write_1h_tokens + output_tokens + reasoning_tokens AS tokens,
    cost_nano_eur AS cost
  FROM audit_usage_days
  UNION ALL
  SELECT organization, date_trunc('day', quarter, 'UTC'), workload, provider, model,
    CASE WHEN strand = '00000000-0000-0000-0000-000000000000' THEN 'quarters' ELSE 'fresh' END,
    calls, refused, failed + hung_up + abandoned, cache_hits,
    input_tokens + cache_read_tokens + cache_write_5m_tokens
      + cache_write_1h_tokens + output_tokens + reasoning_tokens,
    cost_nano_eur
  FROM audit_usage
), sums AS (
  SELECT organization, day, workload, provider, model, source,
    sum(calls) AS calls, sum(refused) AS refused, sum(unserved) AS unserved, sum(cache_hits) AS cache_hits,
    sum(tokens) AS tokens, sum(cost) AS cost
  FROM parts
  CROSS JOIN (VALUES ('days'), ('quarters')) AS sources (source)
  WHERE (kept = source OR kept = 'fresh') AND (source = 'days' OR day >= $1::timestamptz)
  GROUP BY 1, 2, 3, 4, 5, 6
), expected AS (
  SELECT rows.*, source
  FROM rows
  CROSS JOIN (VALUES ('days'), ('quarters')) AS sources (source)
  WHERE source = 'days' OR day >= $1::timestamptz
), folded AS (
  SELECT organization, edge, workload, provider, model, sum(calls) AS calls, sum(refused) AS refused,
    sum(unserved) AS unserved, sum(cache_hits) AS cache_hits, sum(tokens) AS tokens, sum(cost) AS cost
  FROM (
    SELECT organization, date_bin('30 minutes', quarter, 'epoch') AS since, workload, provider, model,
      sum(calls)::bigint AS calls, sum(refused)::bigint AS refused,
      sum(failed + hung_up + abandoned)::bigint AS unserved, sum(cache_hits)::bigint AS cache_hits,
      sum(input_tokens + cache_read_tokens + cache_write_5m_tokens
        + cache_write_1h_tokens + output_tokens + reasoning_tokens)::bigint AS tokens,
      sum(cost_nano_eur) AS cost
    FROM audit_usage
    WHERE strand = '00000000-0000-0000-0000-000000000000' AND quarter >= $1::timestamptz
    GROUP BY 1, 2, 3, 4, 5
  ) AS quarters
  CROSS JOIN LATERAL edges_over(since)
  GROUP BY 1, 2, 3, 4, 5
), edges AS (
  SELECT organization, edge, workload, provider, model, calls, refused, failed + hung_up + abandoned AS unserved, cache_hits,
    input_tokens + cache_read_tokens + cache_write_5m_tokens
      + cache_write_1h_tokens + output_tokens + reasoning_tokens AS tokens,
    cost_nano_eur AS cost
  FROM audit_usage_edges
  WHERE edge >= $1::timestamptz
), off AS (
  SELECT organization, day, workload, provider, model, sums.calls AS stored_calls, expected.calls AS counted_calls,
    sums.tokens AS stored_tokens, expected.tokens AS counted_tokens, sums.cost AS stored_cost, expected.cost AS counted_cost
  FROM sums
  FULL JOIN expected USING (organization, day, workload, provider, model, source)
  WHERE (sums.calls, sums.refused, sums.unserved, sums.cache_hits, sums.tokens, sums.cost)
    IS DISTINCT FROM
    (expected.calls, expected.refused, expected.unserved, expected.cache_hits, expected.tokens, expected.cost)
  UNION ALL
  SELECT organization, date_trunc('day', edge, 'UTC'), workload, provider, model, edges.calls, folded.calls,
    edges.tokens, folded.tokens, edges.cost, folded.cost
  FROM edges
  FULL JOIN folded USING (organization, edge, workload, provider, model)
  WHERE (edges.calls, edges.refused, edges.unserved, edges.cache_hits, edges.tokens, edges.cost)
    IS DISTINCT FROM
    (folded.calls, folded.refused, folded.unserved, folded.cache_hits, folded.tokens, folded.cost)
)
SELECT
  organization, workload, provider, model, to_char(day AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
  coalesce(stored_calls, 0)::text AS stored_calls, coalesce(counted_calls, 0)::text AS counted_calls,
  coalesce(stored_tokens, 0)::text AS stored_tokens, coalesce(counted_tokens, 0)::text AS counted_tokens,
  coalesce(stored_cost, 0)::text AS stored_cost, coalesce(counted_cost, 0)::text AS counted_cost
FROM off
WHERE day >= (SELECT until FROM dropped)
ORDER BY 1, 5, 2, 3, 4
LIMIT 20
