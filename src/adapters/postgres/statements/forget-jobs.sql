DELETE FROM document_jobs
WHERE closed AND ended < now() - interval '30 days' AND input_bytes IS NULL AND result_bytes IS NULL
