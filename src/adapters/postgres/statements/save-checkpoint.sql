WITH saved AS (
  INSERT INTO checkpoints (number, statement, key, signature) VALUES ($1::bigint, $2::text, $3::text, $4::bytea)
  RETURNING number
)
INSERT INTO checkpoint_heads (checkpoint, strand, sequence, link)
SELECT saved.number, head.strand, head.sequence, head.link
FROM saved, unnest($5::uuid[], $6::bigint[], $7::bytea[]) AS head (strand, sequence, link)
