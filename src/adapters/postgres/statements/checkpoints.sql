-- At most $2 checkpoints after number $1, each with its heads in the order of the strands.
SELECT number, statement, key, signature, (
  SELECT coalesce(json_agg(json_build_array(strand, sequence::text, encode(link, 'hex')) ORDER BY strand), '[]')
  FROM checkpoint_heads
  WHERE checkpoint = number
)::text AS heads
FROM checkpoints
WHERE number > $1::bigint
ORDER BY number
LIMIT $2::bigint
