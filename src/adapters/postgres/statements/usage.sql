-- Usage of organization $1, of workload $2 or of all ($2 null), in parts: each is to be added to the period `adds` and taken
-- from the period `takes` (0: none; periods count from 1). $3: the instants that periods begin at, the last of which is the
-- end; $6: the midnights (UTC) that stand for them. $4 and $5: whether workloads and models are told apart. Folded sums come
-- by day, those between the midnights, and by quarter for what lies between an instant and its midnight: it belongs to the
-- period before or after that instant, and was counted with the other one. $7: whether a day is a part as it is kept.
WITH edges AS (
  SELECT
    CASE WHEN $4 THEN workload END AS workload, CASE WHEN $5 THEN provider END AS provider,
    CASE WHEN $5 THEN model END AS model,
    CASE WHEN early AND number < periods + 1 THEN number WHEN NOT early THEN number - 1 ELSE 0 END AS adds,
    CASE WHEN early THEN number - 1 WHEN number < periods + 1 THEN number ELSE 0 END AS takes,
    sum(calls)::bigint AS calls, sum(refused)::bigint AS refused, sum(failed)::bigint AS failed,
    sum(hung_up)::bigint AS hung_up, sum(abandoned)::bigint AS abandoned, sum(cache_hits)::bigint AS cache_hits,
    sum(input_tokens)::bigint AS input_tokens, sum(cache_read_tokens)::bigint AS cache_read_tokens,
    sum(cache_write_5m_tokens)::bigint AS cache_write_5m_tokens,
    sum(cache_write_1h_tokens)::bigint AS cache_write_1h_tokens, sum(output_tokens)::bigint AS output_tokens,
    sum(reasoning_tokens)::bigint AS reasoning_tokens, sum(cost_nano_eur)::text AS cost_nano_eur
  FROM (
    SELECT number::int, instant < midnight AS early, least(instant, midnight) AS since,
      greatest(instant, midnight) AS until, cardinality($3::timestamptz[]) - 1 AS periods
    FROM unnest($3::timestamptz[], $6::timestamptz[]) WITH ORDINALITY AS bounds (instant, midnight, number)
    WHERE instant <> midnight
  ) AS edge
  -- Not merged into a join that may be turned round: then all quarters would be read.
  CROSS JOIN LATERAL (
    SELECT *
    FROM audit_usage
    WHERE organization = $1 AND strand = '00000000-0000-0000-0000-000000000000'
      AND quarter >= edge.since AND quarter < edge.until
    OFFSET 0
  ) AS quarters
  WHERE $2::text IS NULL OR quarters.workload = $2
  GROUP BY 1, 2, 3, 4, 5
), fresh AS (
  SELECT
    CASE WHEN $4 THEN workload END, CASE WHEN $5 THEN provider END, CASE WHEN $5 THEN model END,
    width_bucket(quarter, $3::timestamptz[]), 0, sum(calls)::bigint, sum(refused)::bigint, sum(failed)::bigint,
    sum(hung_up)::bigint, sum(abandoned)::bigint, sum(cache_hits)::bigint, sum(input_tokens)::bigint,
    sum(cache_read_tokens)::bigint, sum(cache_write_5m_tokens)::bigint, sum(cache_write_1h_tokens)::bigint,
    sum(output_tokens)::bigint, sum(reasoning_tokens)::bigint, sum(cost_nano_eur)::text
  FROM audit_usage
  WHERE organization = $1 AND strand <> '00000000-0000-0000-0000-000000000000'
    AND quarter >= ($3::timestamptz[])[1] AND quarter < ($3::timestamptz[])[cardinality($3::timestamptz[])]
    AND ($2::text IS NULL OR workload = $2)
  GROUP BY 1, 2, 3, 4
), summed AS (
  SELECT
    CASE WHEN $4 THEN workload END, CASE WHEN $5 THEN provider END, CASE WHEN $5 THEN model END,
    width_bucket(day, $6::timestamptz[]), 0, sum(calls)::bigint, sum(refused)::bigint, sum(failed)::bigint,
    sum(hung_up)::bigint, sum(abandoned)::bigint, sum(cache_hits)::bigint, sum(input_tokens)::bigint,
    sum(cache_read_tokens)::bigint, sum(cache_write_5m_tokens)::bigint, sum(cache_write_1h_tokens)::bigint,
    sum(output_tokens)::bigint, sum(reasoning_tokens)::bigint, sum(cost_nano_eur)::text
  FROM audit_usage_days
  WHERE organization = $1 AND NOT $7
    AND day >= ($6::timestamptz[])[1] AND day < ($6::timestamptz[])[cardinality($6::timestamptz[])]
    AND ($2::text IS NULL OR workload = $2)
  GROUP BY 1, 2, 3, 4
)
SELECT * FROM edges
UNION ALL
SELECT * FROM fresh
UNION ALL
SELECT * FROM summed
UNION ALL
SELECT workload, provider, model, width_bucket(day, $6::timestamptz[]), 0, calls, refused, failed, hung_up, abandoned,
  cache_hits, input_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, output_tokens,
  reasoning_tokens, cost_nano_eur::text
FROM audit_usage_days
WHERE organization = $1 AND $7
  AND day >= ($6::timestamptz[])[1] AND day < ($6::timestamptz[])[cardinality($6::timestamptz[])]
  AND ($2::text IS NULL OR workload = $2)
