-- At most $3 rows from (strand, sequence) = ($1, $2) on, in chain order. A retry that overtook its first attempt may
-- have left a copy of a written row among the superseded: that copy is no row of its own. Values of one length come first.
SELECT call_id, strand, sequence, at, cost_nano_eur, superseded, organization, workload, link, row_text
FROM (
  (
    SELECT call_id, strand, sequence, at, cost_nano_eur, false AS superseded, organization, workload, link, row_text
    FROM audit_rows
    WHERE (strand, sequence) >= ($1::uuid, $2::bigint)
    ORDER BY strand, sequence
    LIMIT $3::bigint
  )
  UNION ALL
  (
    SELECT call_id, strand, sequence, at, cost_nano_eur, true, organization, workload, link, row_text
    FROM audit_superseded AS late
    WHERE (strand, sequence) >= ($1::uuid, $2::bigint)
      AND NOT EXISTS (
        SELECT FROM audit_rows
        WHERE audit_rows.call_id = late.call_id
          AND audit_rows.strand = late.strand
          AND audit_rows.sequence = late.sequence
          AND (audit_rows.at, audit_rows.organization, audit_rows.workload, audit_rows.cost_nano_eur, audit_rows.link)
            = (late.at, late.organization, late.workload, late.cost_nano_eur, late.link)
          AND audit_rows.row_text = late.row_text
      )
    ORDER BY strand, sequence
    LIMIT $3::bigint
  )
) AS page
ORDER BY strand, sequence, superseded
LIMIT $3::bigint
