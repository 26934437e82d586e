-- A job that waits is cancelled at once and taken up once more, for its row; one that runs is told so.
UPDATE document_jobs
SET
  state = CASE state WHEN 'queued' THEN 'cancelled' WHEN 'succeeded' THEN 'expired' ELSE state END,
  cancel = cancel OR state IN ('queued', 'running'),
  due = CASE WHEN state = 'queued' THEN now() ELSE due END
WHERE id = $1 AND state IN ('queued', 'running', 'succeeded')
