SELECT id, input_bytes IS NOT NULL AS input, result_bytes IS NOT NULL AND state <> 'succeeded' AS result
FROM document_jobs
WHERE closed AND (input_bytes IS NOT NULL OR (result_bytes IS NOT NULL AND state <> 'succeeded'))
LIMIT 100
