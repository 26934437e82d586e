-- Every row of a call that another strand had sealed already; columns, and copies left out, as in rows.sql.
SELECT call_id, strand, sequence, at, cost_nano_eur, true AS superseded, organization, workload, link, row_text
FROM audit_superseded AS late
WHERE NOT EXISTS (
  SELECT FROM audit_rows
  WHERE audit_rows.call_id = late.call_id
    AND audit_rows.strand = late.strand
    AND audit_rows.sequence = late.sequence
    AND (audit_rows.at, audit_rows.organization, audit_rows.workload, audit_rows.cost_nano_eur, audit_rows.link)
      = (late.at, late.organization, late.workload, late.cost_nano_eur, late.link)
    AND audit_rows.row_text = late.row_text
)
