UPDATE document_jobs
SET
  leased_until = now() + $3 * interval '1 millisecond',
  pages = coalesce($4, pages),
  sealed_outcome = coalesce($5, sealed_outcome),
  result_bytes = coalesce($6, result_bytes),
  phase = coalesce($7, phase),
  pages_done = coalesce($8, pages_done)
WHERE id = $1 AND lease = $2 AND NOT closed AND leased_until IS NOT NULL
RETURNING cancel
