SELECT
  (SELECT count(*) FROM document_jobs WHERE organization = $1 AND NOT closed) AS waiting,
  (
    SELECT coalesce(sum(coalesce(input_bytes, 0) + coalesce(result_bytes, 0)), 0)::bigint
    FROM document_jobs
    WHERE input_bytes IS NOT NULL OR result_bytes IS NOT NULL
  ) AS stored
