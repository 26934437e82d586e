-- Usage of organization $1, of workload $2 or of all ($2 null), in the periods that begin at the instants $3, the last of
-- which is the end. `period` counts from 1. $4 and $5: whether workloads and models are told apart. Folded sums come by
-- day (UTC): those of $6, the midnights that stand for the instants of $3, and by quarter for what lies between an instant
-- and its midnight: from $7 until $8 something is to be added to period $9, or taken from it ($10 is 1 or -1).
SELECT
  CASE WHEN $4::boolean THEN workload END AS workload,
  CASE WHEN $5::boolean THEN provider END AS provider,
  CASE WHEN $5::boolean THEN model END AS model,
  period,
  sum(sign * calls)::text AS calls, sum(sign * refused)::text AS refused, sum(sign * failed)::text AS failed,
  sum(sign * hung_up)::text AS hung_up, sum(sign * abandoned)::text AS abandoned,
  sum(sign * cache_hits)::text AS cache_hits, sum(sign * input_tokens)::text AS input_tokens,
  sum(sign * cache_read_tokens)::text AS cache_read_tokens,
  sum(sign * cache_write_5m_tokens)::text AS cache_write_5m_tokens,
  sum(sign * cache_write_1h_tokens)::text AS cache_write_1h_tokens, sum(sign * output_tokens)::text AS output_tokens,
  sum(sign * reasoning_tokens)::text AS reasoning_tokens, sum(sign * cost_nano_eur)::text AS cost_nano_eur
FROM (
  SELECT
    workload, provider, model, width_bucket(day, $6::timestamptz[]) AS period, 1 AS sign,
    calls, refused, failed, hung_up, abandoned, cache_hits, input_tokens, cache_read_tokens, cache_write_5m_tokens,
    cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano_eur
  FROM audit_usage_days
  WHERE organization = $1
    AND day >= ($6::timestamptz[])[1] AND day < ($6::timestamptz[])[cardinality($6::timestamptz[])]
  UNION ALL
  SELECT
    workload, provider, model, width_bucket(quarter, $3::timestamptz[]), 1,
    calls, refused, failed, hung_up, abandoned, cache_hits, input_tokens, cache_read_tokens, cache_write_5m_tokens,
    cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano_eur
  FROM audit_usage
  WHERE organization = $1 AND strand <> '00000000-0000-0000-0000-000000000000'
    AND quarter >= ($3::timestamptz[])[1] AND quarter < ($3::timestamptz[])[cardinality($3::timestamptz[])]
  UNION ALL
  SELECT
    workload, provider, model, piece.period, piece.sign,
    calls, refused, failed, hung_up, abandoned, cache_hits, input_tokens, cache_read_tokens, cache_write_5m_tokens,
    cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano_eur
  FROM unnest($7::timestamptz[], $8::timestamptz[], $9::int[], $10::int[]) AS piece (since, until, period, sign)
  -- Not merged into a join that may be turned round: then all quarters would be read.
  CROSS JOIN LATERAL (
    SELECT *
    FROM audit_usage
    WHERE organization = $1 AND strand = '00000000-0000-0000-0000-000000000000'
      AND quarter >= piece.since AND quarter < piece.until
    OFFSET 0
  ) AS quarters
) AS part
WHERE $2::text IS NULL OR workload = $2
GROUP BY 1, 2, 3, 4
HAVING sum(sign * calls) <> 0
ORDER BY 1, 4, 2, 3
