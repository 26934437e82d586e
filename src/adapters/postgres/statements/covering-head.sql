-- The first head of strand $1 at or after number $2.
SELECT checkpoint, sequence, link
FROM checkpoint_heads
WHERE strand = $1::uuid AND sequence >= $2::bigint
ORDER BY sequence, checkpoint
LIMIT 1
