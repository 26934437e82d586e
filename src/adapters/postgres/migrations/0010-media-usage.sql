-- Tokens of sound and pictures are counted as the input, cached input and output that they are.
CREATE OR REPLACE FUNCTION read_row_facts(row_text text) RETURNS audit_row_facts LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  said jsonb;
  used jsonb;
BEGIN
  -- The one escape that has no text in PostgreSQL; an escaped backslash before "u0000" only costs the name.
  said := replace(row_text, '\u0000', '\ufffd')::jsonb;
  used := CASE jsonb_typeof(said -> 'usage') WHEN 'object' THEN said -> 'usage' ELSE '{}' END;
  RETURN (
    coalesce(said ->> 'outcome', ''), coalesce(said ->> 'provider', ''), coalesce(said ->> 'provider_model', ''),
    coalesce(said ->> 'cache_hit', '') = 'exact',
    bounded_count(used ->> 'input') + bounded_count(used ->> 'inputAudio') + bounded_count(used ->> 'inputImage'),
    bounded_count(used ->> 'cacheRead') + bounded_count(used ->> 'cacheReadAudio'),
    bounded_count(used ->> 'cacheWrite5m'),
    bounded_count(used ->> 'cacheWrite1h'),
    bounded_count(used ->> 'output') + bounded_count(used ->> 'outputAudio') + bounded_count(used ->> 'outputImage'),
    bounded_count(used ->> 'reasoning')
  )::audit_row_facts;
EXCEPTION WHEN OTHERS THEN
  RETURN ('', '', '', false, 0, 0, 0, 0, 0, 0)::audit_row_facts;
END $$;

-- No call uses more tokens of a kind than this.
CREATE FUNCTION bounded_count(said text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT greatest(0, least(1000000000, trunc(coalesce(said, '0')::numeric)))::bigint
$$;

-- Few rows tell sound or pictures apart: they are read with care.
CREATE OR REPLACE FUNCTION row_facts(row_text text, careful boolean) RETURNS TABLE (
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
      FROM (
        SELECT NOT $2 AND strpos($1, '\') = 0 AND strpos($1, '"outcome":"') > 0
          AND strpos($1, 'Audio":') = 0 AND strpos($1, 'Image":') = 0 AS plain
        OFFSET 0
      ) AS kind
      OFFSET 0
    ) AS cut
    OFFSET 0
  ) AS row
$$;
