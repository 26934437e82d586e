-- The link of row $2 of strand $1, which may have been dropped.
SELECT link FROM audit_rows WHERE strand = $1::uuid AND sequence = $2::bigint
UNION ALL
SELECT link FROM audit_superseded WHERE strand = $1::uuid AND sequence = $2::bigint
UNION ALL
SELECT link FROM audit_withheld WHERE strand = $1::uuid AND sequence = $2::bigint
UNION ALL
SELECT link FROM checkpoint_cuts WHERE strand = $1::uuid AND sequence = $2::bigint
LIMIT 1
