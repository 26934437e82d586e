-- At most $4 rows of strand $1 after number $2, in sequence: those of organization $3 with their text, of the others the
-- hash. As in rows.sql, a superseded copy of a written row is no row of its own.
SELECT sequence, link, superseded, organization, row_text, hash
FROM (
  (
    SELECT sequence, link, false AS superseded, CASE WHEN organization = $3 THEN organization END AS organization,
      CASE WHEN organization = $3 THEN row_text END AS row_text, sha256(convert_to(row_text, 'UTF8')) AS hash
    FROM audit_rows
    WHERE strand = $1::uuid AND sequence > $2::bigint
    ORDER BY sequence
    LIMIT $4::bigint
  )
  UNION ALL
  (
    SELECT sequence, link, true, CASE WHEN organization = $3 THEN organization END,
      CASE WHEN organization = $3 THEN row_text END, sha256(convert_to(row_text, 'UTF8'))
    FROM audit_superseded AS late
    WHERE strand = $1::uuid AND sequence > $2::bigint
      AND NOT EXISTS (
        SELECT FROM audit_rows
        WHERE audit_rows.call_id = late.call_id
          AND audit_rows.strand = late.strand
          AND audit_rows.sequence = late.sequence
      )
    ORDER BY sequence
    LIMIT $4::bigint
  )
  UNION ALL
  (
    SELECT sequence, link, false, NULL, NULL, row_hash
    FROM audit_withheld
    WHERE strand = $1::uuid AND sequence > $2::bigint
    ORDER BY sequence
    LIMIT $4::bigint
  )
) AS page
ORDER BY sequence
LIMIT $4::bigint
