UPDATE document_jobs
SET
  input_bytes = CASE WHEN $2 = 'input' THEN NULL ELSE input_bytes END,
  result_bytes = CASE WHEN $2 = 'result' THEN NULL ELSE result_bytes END,
  sealed_outcome = CASE WHEN $2 = 'result' THEN NULL ELSE sealed_outcome END
WHERE id = $1
