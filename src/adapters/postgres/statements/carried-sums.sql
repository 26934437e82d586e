-- What the rows of calls before $1 come to by workload, together with what was carried before.
SELECT organization, workload, (sum(gone.cost) + coalesce(max(carried.cost), 0))::text AS cost,
  (sum(gone.calls) + coalesce(max(carried.calls), 0))::text AS calls
FROM (
  SELECT organization, workload, sum(cost_nano_eur) AS cost, count(*) AS calls
  FROM audit_rows
  WHERE call_id < first_call_id($1::timestamptz)
  GROUP BY 1, 2
) AS gone
LEFT JOIN LATERAL (
  SELECT cost_nano_eur AS cost, calls
  FROM checkpoint_carried
  WHERE checkpoint_carried.organization = gone.organization AND checkpoint_carried.workload = gone.workload
  ORDER BY checkpoint DESC
  LIMIT 1
) AS carried ON true
GROUP BY organization, workload
ORDER BY organization COLLATE "C", workload COLLATE "C"
