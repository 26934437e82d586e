-- What dropping the rows of calls before $1 comes to, by strand: where it can be cut, the link there, and the numbers of
-- rows after that, which are dropped too but follow rows that stay.
WITH gone AS (
  SELECT strand, sequence, link FROM audit_rows WHERE call_id < first_call_id($1::timestamptz)
  UNION ALL
  SELECT strand, sequence, link FROM audit_superseded AS late
  WHERE call_id < first_call_id($1::timestamptz) AND NOT EXISTS (
    SELECT FROM audit_rows
    WHERE audit_rows.call_id = late.call_id
      AND audit_rows.strand = late.strand
      AND audit_rows.sequence = late.sequence
  )
), known AS (
  SELECT * FROM gone
  UNION ALL
  SELECT strand, sequence, link FROM audit_withheld WHERE strand IN (SELECT strand FROM gone)
), lasts AS (
  SELECT strand, max(sequence) AS sequence FROM known GROUP BY strand
), ends AS (
  SELECT lasts.strand, coalesce(least(row.sequence, late.sequence) - 1, lasts.sequence) AS sequence
  FROM lasts
  LEFT JOIN LATERAL (
    SELECT sequence FROM audit_rows
    WHERE strand = lasts.strand AND call_id >= first_call_id($1::timestamptz)
    ORDER BY sequence LIMIT 1
  ) AS row ON true
  LEFT JOIN LATERAL (
    SELECT sequence FROM audit_superseded
    WHERE strand = lasts.strand AND call_id >= first_call_id($1::timestamptz)
    ORDER BY sequence LIMIT 1
  ) AS late ON true
)
SELECT
  ends.strand, ends.sequence,
  coalesce(max(encode(known.link, 'hex')) FILTER (WHERE known.sequence = ends.sequence), (
    SELECT encode(link, 'hex') FROM checkpoint_cuts
    WHERE checkpoint_cuts.strand = ends.strand AND checkpoint_cuts.sequence = ends.sequence
    LIMIT 1
  )) AS link,
  coalesce(
    json_agg(known.sequence::text ORDER BY known.sequence) FILTER (WHERE known.sequence > ends.sequence), '[]'
  )::text AS withheld
FROM ends
JOIN known ON known.strand = ends.strand AND known.sequence >= ends.sequence
GROUP BY ends.strand, ends.sequence
ORDER BY ends.strand
