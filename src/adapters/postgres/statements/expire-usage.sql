-- Usage before $1 is kept by day only.
DELETE FROM audit_usage
WHERE quarter < $1::timestamptz AND strand = '00000000-0000-0000-0000-000000000000'
