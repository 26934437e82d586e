SELECT call_id, strand, sequence, extract(epoch FROM at) * 1000 AS at, organization, workload, cost_nano_eur, row_text, link, false AS superseded
FROM audit_rows
WHERE call_id = ANY ($1::uuid[])
