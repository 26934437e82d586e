UPDATE document_jobs SET state = 'queued', due = now() WHERE id = $1 AND state = 'arriving'
