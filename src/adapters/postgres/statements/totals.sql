-- Spend of organization $1 by workload: in all, from $2 until $3, and from $4 until $5, without the calls $6. The four
-- instants are quarters of an hour.
SELECT
  workload,
  sum(cost)::text AS total,
  sum(cost) FILTER (WHERE at >= $2::timestamptz AND at < $3::timestamptz)::text AS day,
  sum(cost) FILTER (WHERE at >= $4::timestamptz AND at < $5::timestamptz)::text AS month
FROM (
  SELECT workload, quarter AS at, cost_nano_eur AS cost FROM audit_spend WHERE organization = $1
  UNION ALL
  SELECT workload, at, -cost_nano_eur FROM audit_rows WHERE organization = $1 AND call_id = ANY ($6::uuid[])
) AS spent
GROUP BY workload
