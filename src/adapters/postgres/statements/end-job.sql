UPDATE document_jobs
SET
  state = $3,
  closed = true,
  ended = now(),
  leased_until = NULL,
  error_code = $4,
  error_message = $5,
  expires = now() + $6 * interval '1 millisecond',
  sealed_order = ''
WHERE id = $1 AND lease = $2 AND NOT closed
