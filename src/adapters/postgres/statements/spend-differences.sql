-- Where the sums are not those of the rows, those that retention dropped included: at most twenty workloads.
WITH carried AS (
  SELECT DISTINCT ON (organization, workload) organization, workload, cost_nano_eur AS cost
  FROM checkpoint_carried
  ORDER BY organization, workload, checkpoint DESC
)
SELECT organization, workload, coalesce(summed.cost, 0)::text AS stored, coalesce(counted.cost, 0)::text AS counted
FROM (SELECT organization, workload, sum(cost_nano_eur) AS cost FROM audit_spend GROUP BY 1, 2) AS summed
FULL JOIN (
  SELECT organization, workload, sum(cost) AS cost
  FROM (
    SELECT organization, workload, sum(cost_nano_eur) AS cost FROM audit_rows GROUP BY 1, 2
    UNION ALL
    SELECT organization, workload, cost FROM carried
  ) AS parts
  GROUP BY 1, 2
) AS counted USING (organization, workload)
WHERE coalesce(summed.cost, 0) <> coalesce(counted.cost, 0)
ORDER BY organization, workload
LIMIT 20
