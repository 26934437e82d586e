-- Who used what: sums of the ledger's rows by organization, workload, provider, model and quarter of an hour (UTC; a day
-- anywhere begins on one). A trigger keeps them, in the transaction of the rows: rows that a gateway of an earlier build
-- writes are counted like any others. By strand, as audit_spend is, until they are folded: gateways never wait for one
-- another. Calls that reached no provider have the empty provider and model.
CREATE TABLE audit_usage (
  organization text NOT NULL,
  quarter timestamptz NOT NULL,
  workload text NOT NULL,
  provider text NOT NULL,
  model text NOT NULL,
  strand uuid NOT NULL,
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
  PRIMARY KEY (organization, quarter, workload, provider, model, strand)
) WITH (fillfactor = 70);
CREATE INDEX audit_usage_quarter ON audit_usage (quarter);
-- What is not folded yet: the quarters of the last two hours or so.
CREATE INDEX audit_usage_fresh ON audit_usage (organization, quarter)
  WHERE strand <> '00000000-0000-0000-0000-000000000000';

-- The folded quarters by day (UTC): what a question about months is answered from.
CREATE TABLE audit_usage_days (
  organization text NOT NULL,
  day timestamptz NOT NULL,
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
  PRIMARY KEY (organization, day, workload, provider, model)
) WITH (fillfactor = 70);

CREATE TYPE audit_row_facts AS (
  outcome text, provider text, model text, cached boolean, input bigint, cache_read bigint, cache_write_5m bigint,
  cache_write_1h bigint, output bigint, reasoning bigint
);

-- Reads any text, however odd: what cannot be read is a call of which nothing is known. No call uses more tokens of a
-- kind than the bound, and sums of bounded numbers stay in their type.
CREATE FUNCTION read_row_facts(row_text text) RETURNS audit_row_facts LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  most CONSTANT numeric := 1000000000;
  said jsonb;
  used jsonb;
BEGIN
  -- The one escape that has no text in PostgreSQL; an escaped backslash before "u0000" only costs the name.
  said := replace(row_text, '\u0000', '\ufffd')::jsonb;
  used := CASE jsonb_typeof(said -> 'usage') WHEN 'object' THEN said -> 'usage' ELSE '{}' END;
  RETURN (
    coalesce(said ->> 'outcome', ''), coalesce(said ->> 'provider', ''), coalesce(said ->> 'provider_model', ''),
    coalesce(said ->> 'cache_hit', '') = 'exact',
    greatest(0, least(most, trunc(coalesce(used ->> 'input', '0')::numeric)))::bigint,
    greatest(0, least(most, trunc(coalesce(used ->> 'cacheRead', '0')::numeric)))::bigint,
    greatest(0, least(most, trunc(coalesce(used ->> 'cacheWrite5m', '0')::numeric)))::bigint,
    greatest(0, least(most, trunc(coalesce(used ->> 'cacheWrite1h', '0')::numeric)))::bigint,
    greatest(0, least(most, trunc(coalesce(used ->> 'output', '0')::numeric)))::bigint,
    greatest(0, least(most, trunc(coalesce(used ->> 'reasoning', '0')::numeric)))::bigint
  )::audit_row_facts;
EXCEPTION WHEN OTHERS THEN
  RETURN ('', '', '', false, 0, 0, 0, 0, 0, 0)::audit_row_facts;
END $$;

-- What the sums need of a row's text. Texts are canonical JSON: where there is no backslash, no string holds a quote, and
-- cutting the text at the names of its members takes a third of the time of parsing it. Raises data_exception when a text
-- is not as expected: then everything is read with `careful`.
CREATE FUNCTION row_facts(row_text text, careful boolean) RETURNS TABLE (
  outcome text, provider text, model text, cached boolean, input bigint, cache_read bigint, cache_write_5m bigint,
  cache_write_1h bigint, output bigint, reasoning bigint
) LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT
    CASE WHEN plain THEN split_part(tail, '"', 1) ELSE (facts).outcome END,
    CASE WHEN plain THEN split_part(split_part(tail, '"provider":"', 2), '"', 1) ELSE (facts).provider END,
    CASE WHEN plain THEN split_part(split_part(tail, '"provider_model":"', 2), '"', 1) ELSE (facts).model END,
    CASE WHEN plain THEN strpos($1, '"cache_hit":"exact"') > 0 ELSE (facts).cached END,
    CASE WHEN used <> '' THEN least(1000000000, split_part(split_part(used, '"input":', 2), ',', 1)::bigint) ELSE coalesce((facts).input, 0) END,
    CASE WHEN used <> '' THEN least(1000000000, split_part(split_part(used, '"cacheRead":', 2), ',', 1)::bigint) ELSE coalesce((facts).cache_read, 0) END,
    CASE WHEN used <> '' THEN least(1000000000, split_part(split_part(used, '"cacheWrite5m":', 2), ',', 1)::bigint) ELSE coalesce((facts).cache_write_5m, 0) END,
    CASE WHEN used <> '' THEN least(1000000000, split_part(split_part(used, '"cacheWrite1h":', 2), ',', 1)::bigint) ELSE coalesce((facts).cache_write_1h, 0) END,
    CASE WHEN used <> '' THEN least(1000000000, split_part(split_part(used, '"output":', 2), ',', 1)::bigint) ELSE coalesce((facts).output, 0) END,
    CASE WHEN used <> '' THEN least(1000000000, split_part(split_part(used, '"reasoning":', 2), ',', 1)::bigint) ELSE coalesce((facts).reasoning, 0) END
  FROM (
    SELECT plain, tail, facts, CASE WHEN plain THEN split_part(split_part(tail, '"usage":{', 2), '}', 1) ELSE '' END AS used
    FROM (
      SELECT
        plain,
        CASE WHEN plain THEN split_part($1, '"outcome":"', 2) END AS tail,
        CASE WHEN NOT plain THEN read_row_facts($1) END AS facts
      FROM (SELECT NOT $2 AND strpos($1, '\') = 0 AND strpos($1, '"outcome":"') > 0 AS plain OFFSET 0) AS kind
      OFFSET 0
    ) AS cut
    OFFSET 0
  ) AS row
$$;

CREATE FUNCTION count_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  FOR attempt IN 1..2 LOOP
    BEGIN
      INSERT INTO audit_usage AS usage
      SELECT
        organization, date_bin('15 minutes', at, 'epoch'), workload, provider, model, strand, count(*),
        count(*) FILTER (WHERE outcome = 'refused'), count(*) FILTER (WHERE outcome = 'failed'),
        count(*) FILTER (WHERE outcome = 'hung_up'), count(*) FILTER (WHERE outcome = 'abandoned'),
        count(*) FILTER (WHERE cached), sum(input), sum(cache_read), sum(cache_write_5m), sum(cache_write_1h),
        sum(output), sum(reasoning), sum(cost_nano_eur)
      FROM added, row_facts(row_text, attempt = 2)
      GROUP BY 1, 2, 3, 4, 5, 6
      ORDER BY 1, 2, 3, 4, 5, 6
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
        cost_nano_eur = usage.cost_nano_eur + excluded.cost_nano_eur;
      RETURN NULL;
    EXCEPTION WHEN data_exception THEN
      IF attempt = 2 THEN RAISE; END IF;
    END;
  END LOOP;
END $$;

-- On the parent: rows are written through it, never to a partition.
CREATE TRIGGER count_usage AFTER INSERT ON audit_rows REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_usage();

-- Rows that were there before the trigger (which has just waited for whoever was writing): counted little by little, up to
-- `upto` of each strand. How far that has come is `done`.
CREATE TABLE audit_usage_backfill (
  strand uuid PRIMARY KEY,
  upto bigint NOT NULL,
  done bigint NOT NULL DEFAULT 0
);
INSERT INTO audit_usage_backfill (strand, upto)
WITH RECURSIVE strands AS (
  (SELECT strand FROM audit_rows ORDER BY strand LIMIT 1)
  UNION ALL
  SELECT (SELECT strand FROM audit_rows WHERE strand > strands.strand ORDER BY strand LIMIT 1)
  FROM strands
  WHERE strands.strand IS NOT NULL
)
SELECT strand, (SELECT max(sequence) FROM audit_rows WHERE audit_rows.strand = strands.strand)
FROM strands
WHERE strand IS NOT NULL;
