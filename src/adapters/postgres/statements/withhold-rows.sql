-- Keeps the hashes of the rows of calls before $1 that come after the cuts ($2: strands, $3: numbers).
INSERT INTO audit_withheld (strand, sequence, row_hash, link)
SELECT gone.strand, gone.sequence, sha256(convert_to(gone.row_text, 'UTF8')), gone.link
FROM (
  SELECT call_id, strand, sequence, row_text, link FROM audit_rows
  UNION
  SELECT call_id, strand, sequence, row_text, link FROM audit_superseded
) AS gone
JOIN unnest($2::uuid[], $3::bigint[]) AS cut (strand, sequence)
  ON cut.strand = gone.strand AND gone.sequence > cut.sequence
WHERE gone.call_id < first_call_id($1::timestamptz)
