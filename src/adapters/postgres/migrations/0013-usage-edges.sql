-- What was folded between a whole or half hour (UTC) and the midnight nearest to it; of noon, the one after it. Days of nearly
-- every time zone begin at such instants: their sums are those of days of UTC, mended by one of these at each end.
CREATE TABLE audit_usage_edges (
  organization text NOT NULL,
  edge timestamptz NOT NULL,
  workload text NOT NULL,
  provider text NOT NULL,
  model text NOT NULL,
  calls bigint NOT NULL,
  refused bigint NOT NULL,
  failed bigint NOT NULL,
  hung_up bigint NOT NULL,
  abandoned bigint NOT NULL,
  cache_hits bigint NOT NULL,
  input_tokens bigint NOT NULL,
  cache_read_tokens bigint NOT NULL,
  cache_write_5m_tokens bigint NOT NULL,
  cache_write_1h_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  cost_nano_eur numeric NOT NULL,
  PRIMARY KEY (organization, edge, workload, provider, model)
) WITH (fillfactor = 70);
CREATE INDEX audit_usage_edges_edge ON audit_usage_edges (edge);

-- The edges that a quarter lies between and their midnight: at most 24. What is of the half hour before noon is in none.
CREATE FUNCTION edges_over(quarter timestamptz) RETURNS TABLE (edge timestamptz) LANGUAGE sql STABLE ROWS 12 AS $$
  SELECT generate_series(
    CASE WHEN quarter < noon THEN half + interval '30 minutes' ELSE noon END,
    CASE WHEN quarter < noon THEN noon - interval '30 minutes' ELSE half END,
    interval '30 minutes')
  FROM (
    SELECT date_bin('30 minutes', quarter, 'epoch') AS half, date_trunc('day', quarter, 'UTC') + interval '12 hours' AS noon
  ) AS near
$$;

-- Sums are folded by deleting them with their strand and adding them without: what is deleted with its strand is added here,
-- whichever build's gateway folds. Sums without one are deleted when they are too old to be kept.
CREATE FUNCTION count_usage_edges() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_usage_edges AS edges
  SELECT
    organization, edge, workload, provider, model,
    sum(calls), sum(refused), sum(failed), sum(hung_up), sum(abandoned), sum(cache_hits), sum(input_tokens),
    sum(cache_read_tokens), sum(cache_write_5m_tokens), sum(cache_write_1h_tokens), sum(output_tokens),
    sum(reasoning_tokens), sum(cost_nano_eur)
  FROM gone, edges_over(quarter)
  WHERE strand <> '00000000-0000-0000-0000-000000000000'
  GROUP BY 1, 2, 3, 4, 5
  ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (organization, edge, workload, provider, model) DO UPDATE SET
    calls = edges.calls + excluded.calls,
    refused = edges.refused + excluded.refused,
    failed = edges.failed + excluded.failed,
    hung_up = edges.hung_up + excluded.hung_up,
    abandoned = edges.abandoned + excluded.abandoned,
    cache_hits = edges.cache_hits + excluded.cache_hits,
    input_tokens = edges.input_tokens + excluded.input_tokens,
    cache_read_tokens = edges.cache_read_tokens + excluded.cache_read_tokens,
    cache_write_5m_tokens = edges.cache_write_5m_tokens + excluded.cache_write_5m_tokens,
    cache_write_1h_tokens = edges.cache_write_1h_tokens + excluded.cache_write_1h_tokens,
    output_tokens = edges.output_tokens + excluded.output_tokens,
    reasoning_tokens = edges.reasoning_tokens + excluded.reasoning_tokens,
    cost_nano_eur = edges.cost_nano_eur + excluded.cost_nano_eur;
  RETURN NULL;
END $$;

-- What is folded already. Nobody folds meanwhile: that takes the lock which this migration holds. Rows go on being written,
-- until the trigger is made, last of all. In the order that it is read in.
WITH folded AS (
  SELECT
    organization, date_bin('30 minutes', quarter, 'epoch') AS since, workload, provider, model,
    sum(calls)::bigint AS calls, sum(refused)::bigint AS refused, sum(failed)::bigint AS failed,
    sum(hung_up)::bigint AS hung_up, sum(abandoned)::bigint AS abandoned, sum(cache_hits)::bigint AS cache_hits,
    sum(input_tokens)::bigint AS input_tokens, sum(cache_read_tokens)::bigint AS cache_read_tokens,
    sum(cache_write_5m_tokens)::bigint AS cache_write_5m_tokens,
    sum(cache_write_1h_tokens)::bigint AS cache_write_1h_tokens, sum(output_tokens)::bigint AS output_tokens,
    sum(reasoning_tokens)::bigint AS reasoning_tokens, sum(cost_nano_eur) AS cost_nano_eur
  FROM audit_usage
  WHERE strand = '00000000-0000-0000-0000-000000000000'
  GROUP BY 1, 2, 3, 4, 5
)
INSERT INTO audit_usage_edges
SELECT
  organization, edge, workload, provider, model,
  sum(calls), sum(refused), sum(failed), sum(hung_up), sum(abandoned), sum(cache_hits), sum(input_tokens),
  sum(cache_read_tokens), sum(cache_write_5m_tokens), sum(cache_write_1h_tokens), sum(output_tokens),
  sum(reasoning_tokens), sum(cost_nano_eur)
FROM folded, edges_over(since)
GROUP BY 1, 2, 3, 4, 5
ORDER BY 1, 2, 3, 4, 5;

CREATE TRIGGER count_usage_edges AFTER DELETE ON audit_usage REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION count_usage_edges();
