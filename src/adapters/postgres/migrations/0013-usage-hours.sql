-- What was folded between a whole hour (UTC) and the midnight nearest to it; of noon, the one after it. Days of a time
-- zone that is not UTC begin at such hours: their sums are those of days, mended by one of these at each end.
CREATE TABLE audit_usage_hours (
  organization text NOT NULL,
  hour timestamptz NOT NULL,
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
  PRIMARY KEY (organization, hour, workload, provider, model)
) WITH (fillfactor = 70);
CREATE INDEX audit_usage_hours_hour ON audit_usage_hours (hour);

-- The hours of which a quarter lies between them and their midnight: at most eleven or twelve. What is of the hour before
-- noon is in none.
CREATE FUNCTION hours_over(quarter timestamptz) RETURNS TABLE (hour timestamptz) LANGUAGE sql STABLE ROWS 6 AS $$
  SELECT generate_series(
    CASE WHEN quarter < noon THEN date_trunc('hour', quarter, 'UTC') + interval '1 hour' ELSE noon END,
    CASE WHEN quarter < noon THEN noon - interval '1 hour' ELSE date_trunc('hour', quarter, 'UTC') END,
    interval '1 hour')
  FROM (SELECT date_trunc('day', quarter, 'UTC') + interval '12 hours' AS noon) AS of_its_day
$$;

-- Sums are folded by deleting them with their strand and adding them without: what is deleted with its strand is added here,
-- whichever build's gateway folds. Sums without one are deleted when they are too old to be kept.
CREATE FUNCTION count_usage_hours() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_usage_hours AS hours
  SELECT
    organization, hour, workload, provider, model,
    sum(calls), sum(refused), sum(failed), sum(hung_up), sum(abandoned), sum(cache_hits), sum(input_tokens),
    sum(cache_read_tokens), sum(cache_write_5m_tokens), sum(cache_write_1h_tokens), sum(output_tokens),
    sum(reasoning_tokens), sum(cost_nano_eur)
  FROM gone, hours_over(quarter)
  WHERE strand <> '00000000-0000-0000-0000-000000000000'
  GROUP BY 1, 2, 3, 4, 5
  ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (organization, hour, workload, provider, model) DO UPDATE SET
    calls = hours.calls + excluded.calls,
    refused = hours.refused + excluded.refused,
    failed = hours.failed + excluded.failed,
    hung_up = hours.hung_up + excluded.hung_up,
    abandoned = hours.abandoned + excluded.abandoned,
    cache_hits = hours.cache_hits + excluded.cache_hits,
    input_tokens = hours.input_tokens + excluded.input_tokens,
    cache_read_tokens = hours.cache_read_tokens + excluded.cache_read_tokens,
    cache_write_5m_tokens = hours.cache_write_5m_tokens + excluded.cache_write_5m_tokens,
    cache_write_1h_tokens = hours.cache_write_1h_tokens + excluded.cache_write_1h_tokens,
    output_tokens = hours.output_tokens + excluded.output_tokens,
    reasoning_tokens = hours.reasoning_tokens + excluded.reasoning_tokens,
    cost_nano_eur = hours.cost_nano_eur + excluded.cost_nano_eur;
  RETURN NULL;
END $$;

-- What is folded already. Nobody folds meanwhile: that takes the lock which this migration holds. Rows go on being written,
-- until the trigger is made, last of all. In the order that it is read in.
WITH folded AS (
  SELECT
    organization, date_trunc('hour', quarter, 'UTC') AS since, workload, provider, model,
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
INSERT INTO audit_usage_hours
SELECT
  organization, hour, workload, provider, model,
  sum(calls), sum(refused), sum(failed), sum(hung_up), sum(abandoned), sum(cache_hits), sum(input_tokens),
  sum(cache_read_tokens), sum(cache_write_5m_tokens), sum(cache_write_1h_tokens), sum(output_tokens),
  sum(reasoning_tokens), sum(cost_nano_eur)
FROM folded, hours_over(since)
GROUP BY 1, 2, 3, 4, 5
ORDER BY 1, 2, 3, 4, 5;

CREATE TRIGGER count_usage_hours AFTER DELETE ON audit_usage REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION count_usage_hours();
