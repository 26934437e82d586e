-- At most $3 kept hashes after (strand, sequence) = ($1, $2), in chain order.
SELECT strand, sequence, row_hash AS hash, link
FROM audit_withheld
WHERE (strand, sequence) > ($1::uuid, $2::bigint)
ORDER BY strand, sequence
LIMIT $3::bigint
