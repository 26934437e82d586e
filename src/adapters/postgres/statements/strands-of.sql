-- The strands in which organization $1 has rows.
SELECT strand FROM audit_rows WHERE organization = $1
UNION
SELECT strand FROM audit_superseded WHERE organization = $1
ORDER BY strand
