INSERT INTO document_jobs (id, organization, workload, key, created, due, state, sealed_order, input_bytes)
VALUES ($1, $2, $3, $4, $5, now(), 'arriving', $6, $7)
