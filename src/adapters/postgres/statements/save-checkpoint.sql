WITH saved AS (
  INSERT INTO checkpoints (number, statement, key, signature) VALUES ($1::bigint, $2::text, $3::text, $4::bytea)
  RETURNING number
), known AS (
  INSERT INTO checkpoint_keys (key, public_key) SELECT $3::text, $8::bytea WHERE $8::bytea IS NOT NULL
  ON CONFLICT (key) DO NOTHING
), credited AS (
  INSERT INTO checkpoint_credit (checkpoint, organization, number, link)
  SELECT saved.number, head.organization, head.number, head.link
  FROM saved, unnest($9::text[], $10::bigint[], $11::bytea[]) AS head (organization, number, link)
)
INSERT INTO checkpoint_heads (checkpoint, strand, sequence, link)
SELECT saved.number, head.strand, head.sequence, head.link
FROM saved, unnest($5::uuid[], $6::bigint[], $7::bytea[]) AS head (strand, sequence, link)
