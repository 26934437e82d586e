SELECT count(*)::int AS waiting FROM document_jobs WHERE NOT closed AND state = 'queued'
