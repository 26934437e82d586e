-- Where the sums are not those of the rows: at most twenty stretches of time of workloads. Sums are compared by quarter of
-- an hour, by day (UTC) where they are kept so, and in one for the time that retention dropped the rows of.
WITH dropped AS (
  SELECT coalesce(max((substring(statement FROM '"before":"(\d{4}-(?:0[1-9]|1[0-2]))"') || '-01T00:00:00Z')::timestamptz), '-infinity') AS until
  FROM checkpoints
  WHERE number IN (SELECT checkpoint FROM checkpoint_carried UNION SELECT checkpoint FROM checkpoint_cuts)
), folded AS (
  SELECT coalesce(max(quarter) + interval '1 day', '-infinity') AS until
  FROM audit_spend
  WHERE strand = '00000000-0000-0000-0000-000000000000'
), carried AS (
  SELECT DISTINCT ON (organization, workload) organization, workload, cost_nano_eur AS cost
  FROM checkpoint_carried
  ORDER BY organization, workload, checkpoint DESC
), stored AS (
  SELECT organization, workload, quarter, sum(cost_nano_eur) AS cost FROM audit_spend GROUP BY 1, 2, 3
), counted AS (
  SELECT organization, workload, date_bin('15 minutes', at, 'epoch') AS quarter, sum(cost_nano_eur) AS cost
  FROM audit_rows
  GROUP BY 1, 2, 3
  UNION ALL
  SELECT organization, workload, '-infinity', cost FROM carried
), compared AS (
  SELECT
    organization, workload,
    CASE
      WHEN quarter < dropped.until THEN '-infinity'
      WHEN quarter < folded.until THEN date_trunc('day', quarter, 'UTC')
      ELSE quarter
    END AS since,
    sum(stored) AS stored, sum(counted) AS counted
  FROM (
    SELECT organization, workload, quarter, cost AS stored, 0 AS counted FROM stored
    UNION ALL
    SELECT organization, workload, quarter, 0, cost FROM counted
  ) AS sums
  CROSS JOIN dropped
  CROSS JOIN folded
  GROUP BY 1, 2, 3
)
SELECT
  organization, workload, stored::text AS stored, counted::text AS counted,
  CASE WHEN isfinite(since) THEN to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') END AS since
FROM compared
WHERE stored <> counted
ORDER BY organization, workload, since
LIMIT 20
