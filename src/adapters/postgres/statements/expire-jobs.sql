-- Results whose time is over; jobs whose document never came.
UPDATE document_jobs
SET
  state = CASE state WHEN 'succeeded' THEN 'expired' ELSE 'cancelled' END,
  closed = true,
  ended = coalesce(ended, now()),
  sealed_order = ''
WHERE (state = 'succeeded' AND expires <= now()) OR (state = 'arriving' AND due < now() - interval '15 minutes')
