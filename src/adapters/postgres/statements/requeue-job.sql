UPDATE document_jobs
SET
  state = CASE WHEN state = 'cancelled' THEN 'cancelled' ELSE 'queued' END,
  due = now() + $3 * interval '1 millisecond',
  leased_until = NULL,
  phase = 'waiting',
  pages_done = 0,
  takes = takes - CASE WHEN $4::boolean THEN 0 ELSE 1 END
WHERE id = $1 AND lease = $2 AND NOT closed
