-- Sums before $1 are kept by day (UTC) instead of quarter of an hour, and no longer by strand.
WITH old AS (
  DELETE FROM audit_spend
  WHERE quarter < $1::timestamptz AND strand <> '00000000-0000-0000-0000-000000000000'
  RETURNING organization, workload, quarter, cost_nano_eur, calls
)
INSERT INTO audit_spend AS spend (organization, workload, strand, quarter, cost_nano_eur, calls)
SELECT
  organization, workload, '00000000-0000-0000-0000-000000000000'::uuid, date_trunc('day', quarter, 'UTC'),
  sum(cost_nano_eur), sum(calls)
FROM old
GROUP BY 1, 2, 3, 4
ON CONFLICT (organization, workload, strand, quarter) DO UPDATE
SET cost_nano_eur = spend.cost_nano_eur + excluded.cost_nano_eur, calls = spend.calls + excluded.calls
