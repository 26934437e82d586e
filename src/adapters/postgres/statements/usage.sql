-- Usage of organization $1, of workload $2 or of all ($2 null), in parts: each is to be added to the period `adds` and taken
-- from the period `takes` (0: none; periods count from 1). $3: the instants that periods begin at, the last of which is the
-- end; $6: the edges (half hours) nearest to them; $7: the midnights (UTC) nearest to those. $4 and $5: whether workloads and
-- models are told apart. Folded sums come by day, those between the midnights; as they are kept for what lies between an edge
-- and its midnight; and by quarter for what lies between an instant and its edge. What is between an instant and its midnight
-- belongs to the period before or after that instant, and was counted with the other one. $8: whether each folded sum is a
-- part; else they are summed.
WITH bounds AS (
  SELECT number::int, cardinality($3::timestamptz[]) - 1 AS periods, instant, edge, midnight
  FROM unnest($3::timestamptz[], $6::timestamptz[], $7::timestamptz[])
    WITH ORDINALITY AS bounds (instant, edge, midnight, number)
), near AS (
  SELECT
    CASE WHEN early AND number <= periods THEN number WHEN NOT early THEN number - 1 ELSE 0 END AS adds,
    CASE WHEN early THEN number - 1 WHEN number <= periods THEN number ELSE 0 END AS takes,
    edge, since, until
  FROM (
    SELECT number, periods, edge < midnight AS early, edge, NULL::timestamptz AS since, NULL::timestamptz AS until
    FROM bounds
    WHERE edge <> midnight
    UNION ALL
    SELECT number, periods, instant < edge, NULL, least(instant, edge), greatest(instant, edge)
    FROM bounds
    WHERE instant <> edge
  ) AS pieces
), folded AS NOT MATERIALIZED (
  SELECT workload, provider, model, width_bucket(day, $7::timestamptz[]) AS adds, 0 AS takes, calls, refused, failed, hung_up,
    abandoned, cache_hits, input_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, output_tokens,
    reasoning_tokens, cost_nano_eur
  FROM audit_usage_days
  WHERE organization = $1
    AND day >= ($7::timestamptz[])[1] AND day < ($7::timestamptz[])[cardinality($7::timestamptz[])]
  UNION ALL
  -- Not merged into joins that may be turned round: then all edges and quarters would be read.
  SELECT workload, provider, model, adds, takes, calls, refused, failed, hung_up, abandoned, cache_hits, input_tokens,
    cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano_eur
  FROM near
  CROSS JOIN LATERAL (
    SELECT * FROM audit_usage_edges WHERE organization = $1 AND edge = near.edge OFFSET 0
  ) AS kept
  WHERE near.edge IS NOT NULL
  UNION ALL
  SELECT workload, provider, model, adds, takes, calls, refused, failed, hung_up, abandoned, cache_hits, input_tokens,
    cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano_eur
  FROM near
  CROSS JOIN LATERAL (
    SELECT *
    FROM audit_usage
    WHERE organization = $1 AND strand = '00000000-0000-0000-0000-000000000000'
      AND quarter >= near.since AND quarter < near.until
    OFFSET 0
  ) AS quarters
  WHERE since IS NOT NULL
), fresh AS NOT MATERIALIZED (
  SELECT workload, provider, model, width_bucket(quarter, $3::timestamptz[]) AS adds, 0 AS takes, calls, refused, failed,
    hung_up, abandoned, cache_hits, input_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens,
    output_tokens, reasoning_tokens, cost_nano_eur
  FROM audit_usage
  WHERE organization = $1 AND strand <> '00000000-0000-0000-0000-000000000000'
    AND quarter >= ($3::timestamptz[])[1] AND quarter < ($3::timestamptz[])[cardinality($3::timestamptz[])]
)
SELECT workload, provider, model, adds, takes, calls, refused, failed, hung_up, abandoned, cache_hits, input_tokens,
  cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano_eur::text
FROM folded
WHERE $8 AND ($2::text IS NULL OR workload = $2)
UNION ALL
SELECT
  CASE WHEN $4 THEN workload END, CASE WHEN $5 THEN provider END, CASE WHEN $5 THEN model END, adds, takes,
  sum(calls)::bigint, sum(refused)::bigint, sum(failed)::bigint, sum(hung_up)::bigint, sum(abandoned)::bigint,
  sum(cache_hits)::bigint, sum(input_tokens)::bigint, sum(cache_read_tokens)::bigint, sum(cache_write_5m_tokens)::bigint,
  sum(cache_write_1h_tokens)::bigint, sum(output_tokens)::bigint, sum(reasoning_tokens)::bigint, sum(cost_nano_eur)::text
FROM (
  SELECT * FROM folded WHERE NOT $8
  UNION ALL
  SELECT * FROM fresh
) AS summed
WHERE $2::text IS NULL OR workload = $2
GROUP BY 1, 2, 3, 4, 5
