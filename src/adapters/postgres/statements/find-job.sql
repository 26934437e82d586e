SELECT
  id, organization, workload, state, cancel, phase, pages, pages_done, error_code, error_message, created, expires,
  sealed_outcome
FROM document_jobs
WHERE id = $1 AND state <> 'arriving'
