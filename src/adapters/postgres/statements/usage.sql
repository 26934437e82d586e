-- Usage of organization $1, of workload $2 or of all ($2 null), from $3 until $4. From $5 until $6 lie whole days (UTC),
-- which are summed already; $5 = $6 when none may be taken so. $7 and $8: whether workloads and models are told apart;
-- `day` counts the instants of $9 that are not after it.
SELECT
  CASE WHEN $7::boolean THEN workload END AS workload,
  CASE WHEN $8::boolean THEN provider END AS provider,
  CASE WHEN $8::boolean THEN model END AS model,
  width_bucket(at, $9::timestamptz[]) AS day,
  sum(calls)::text AS calls, sum(refused)::text AS refused, sum(failed)::text AS failed,
  sum(hung_up)::text AS hung_up, sum(abandoned)::text AS abandoned, sum(cache_hits)::text AS cache_hits,
  sum(input_tokens)::text AS input_tokens, sum(cache_read_tokens)::text AS cache_read_tokens,
  sum(cache_write_5m_tokens)::text AS cache_write_5m_tokens,
  sum(cache_write_1h_tokens)::text AS cache_write_1h_tokens, sum(output_tokens)::text AS output_tokens,
  sum(reasoning_tokens)::text AS reasoning_tokens, sum(cost_nano_eur)::text AS cost_nano_eur
FROM (
  SELECT
    workload, provider, model, day AS at,
    calls, refused, failed, hung_up, abandoned, cache_hits, input_tokens, cache_read_tokens, cache_write_5m_tokens,
    cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano_eur
  FROM audit_usage_days
  WHERE organization = $1 AND day >= $5::timestamptz AND day < $6::timestamptz
  UNION ALL
  SELECT
    workload, provider, model, quarter,
    calls, refused, failed, hung_up, abandoned, cache_hits, input_tokens, cache_read_tokens, cache_write_5m_tokens,
    cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano_eur
  FROM audit_usage
  WHERE organization = $1 AND strand <> '00000000-0000-0000-0000-000000000000'
    AND quarter >= $5::timestamptz AND quarter < $6::timestamptz
  UNION ALL
  SELECT
    workload, provider, model, quarter,
    calls, refused, failed, hung_up, abandoned, cache_hits, input_tokens, cache_read_tokens, cache_write_5m_tokens,
    cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano_eur
  FROM audit_usage
  WHERE organization = $1 AND quarter >= $3::timestamptz AND quarter < $5::timestamptz
  UNION ALL
  SELECT
    workload, provider, model, quarter,
    calls, refused, failed, hung_up, abandoned, cache_hits, input_tokens, cache_read_tokens, cache_write_5m_tokens,
    cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano_eur
  FROM audit_usage
  WHERE organization = $1 AND quarter >= $6::timestamptz AND quarter < $4::timestamptz
) AS part
WHERE $2::text IS NULL OR workload = $2
GROUP BY 1, 2, 3, 4
ORDER BY 1, 4, 2, 3
