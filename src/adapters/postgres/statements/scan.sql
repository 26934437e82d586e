-- Every row of a call, as it lies; columns as in rows.sql.
SELECT call_id, strand, sequence, at, cost_nano_eur, false AS superseded, organization, workload, link, row_text
FROM audit_rows
