-- The last row of every strand that has grown since the last checkpoint. Jumps from strand to strand in the index.
WITH RECURSIVE strands AS (
  (SELECT strand FROM audit_rows ORDER BY strand LIMIT 1)
  UNION ALL
  SELECT (SELECT strand FROM audit_rows WHERE strand > strands.strand ORDER BY strand LIMIT 1)
  FROM strands
  WHERE strands.strand IS NOT NULL
)
SELECT head.strand, head.sequence, head.link
FROM strands
CROSS JOIN LATERAL (
  SELECT strand, sequence, link FROM audit_rows WHERE strand = strands.strand ORDER BY sequence DESC LIMIT 1
) AS head
LEFT JOIN LATERAL (
  SELECT sequence FROM checkpoint_heads WHERE strand = strands.strand ORDER BY sequence DESC LIMIT 1
) AS known ON true
WHERE head.sequence > coalesce(known.sequence, 0)
ORDER BY head.strand
