-- Where the sums are not those of the rows: at most twenty days (UTC). Quarters from $1 on are held against the days too;
-- before it they are not kept. Days of which retention has dropped rows are passed over, also when rows of such a day came
-- later: what it signed of them is held against audit_spend.
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
)
SELECT
  organization, workload, provider, model, to_char(day AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
  coalesce(sums.calls, 0)::text AS stored_calls, coalesce(expected.calls, 0)::text AS counted_calls,
  coalesce(sums.tokens, 0)::text AS stored_tokens, coalesce(expected.tokens, 0)::text AS counted_tokens,
  coalesce(sums.cost, 0)::text AS stored_cost, coalesce(expected.cost, 0)::text AS counted_cost
FROM sums
FULL JOIN expected USING (organization, day, workload, provider, model, source)
WHERE day >= (SELECT until FROM dropped)
  AND (sums.calls, sums.refused, sums.unserved, sums.cache_hits, sums.tokens, sums.cost)
  IS DISTINCT FROM
  (expected.calls, expected.refused, expected.unserved, expected.cache_hits, expected.tokens, expected.cost)
ORDER BY 1, 5, 2, 3, 4
LIMIT 20
