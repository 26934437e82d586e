-- At most $2 checkpoints after number $1, each with its lists in the order of their leaves.
SELECT number, statement, key, signature, public_key, (
  SELECT coalesce(json_agg(json_build_array(strand, sequence::text, encode(link, 'hex')) ORDER BY strand), '[]')
  FROM checkpoint_heads
  WHERE checkpoint = number
)::text AS heads, (
  SELECT json_agg(json_build_array(strand, sequence::text, encode(link, 'hex'), withheld) ORDER BY strand)
  FROM checkpoint_cuts
  WHERE checkpoint = number
)::text AS cuts, (
  SELECT json_agg(
    json_build_array(organization, workload, cost_nano_eur::text, calls::text, encode(salt, 'hex'))
    ORDER BY organization COLLATE "C", workload COLLATE "C"
  )
  FROM checkpoint_carried
  WHERE checkpoint = number
)::text AS carried, (
  SELECT json_agg(json_build_array(organization, credit.number::text, encode(link, 'hex')) ORDER BY organization COLLATE "C")
  FROM checkpoint_credit AS credit
  WHERE checkpoint = checkpoints.number
)::text AS credit
FROM checkpoints
LEFT JOIN checkpoint_keys USING (key)
WHERE number > $1::bigint
ORDER BY number
LIMIT $2::bigint
