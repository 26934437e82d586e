-- Spend of organization $1 in all, and in the day and month that $3 falls in, in time zone $2, without the calls $4.
-- Rows are placed by their own local date: asking for the instants at which a local day begins goes wrong where
-- clocks are put back at midnight. One row a workload; one row with a null workload when there is none.
WITH today AS (
  SELECT date_trunc('day', timezone($2, $3::timestamptz)) AS day, date_trunc('month', timezone($2, $3::timestamptz)) AS month
), spent AS (
  SELECT workload, at, cost_nano_eur AS cost FROM audit_rows WHERE organization = $1
  UNION ALL
  SELECT workload, at, -cost_nano_eur FROM audit_rows WHERE organization = $1 AND call_id = ANY ($4::uuid[])
)
SELECT
  to_char(today.day, 'YYYY-MM-DD') AS day_id,
  to_char(today.month, 'YYYY-MM') AS month_id,
  spent.workload,
  sum(spent.cost)::text AS total,
  sum(spent.cost) FILTER (
    WHERE spent.at > $3::timestamptz - interval '3 days' AND date_trunc('day', timezone($2, spent.at)) = today.day
  )::text AS day,
  sum(spent.cost) FILTER (
    WHERE spent.at > $3::timestamptz - interval '33 days' AND date_trunc('month', timezone($2, spent.at)) = today.month
  )::text AS month
FROM today
LEFT JOIN spent ON true
GROUP BY today.day, today.month, spent.workload
