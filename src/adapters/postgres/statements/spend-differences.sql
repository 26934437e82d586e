-- Where the sums are not those of the rows: at most twenty workloads.
SELECT organization, workload, coalesce(summed.cost, 0)::text AS stored, coalesce(counted.cost, 0)::text AS counted
FROM (SELECT organization, workload, sum(cost_nano_eur) AS cost FROM audit_spend GROUP BY 1, 2) AS summed
FULL JOIN (SELECT organization, workload, sum(cost_nano_eur) AS cost FROM audit_rows GROUP BY 1, 2) AS counted
  USING (organization, workload)
WHERE coalesce(summed.cost, 0) <> coalesce(counted.cost, 0)
ORDER BY organization, workload
LIMIT 20
