-- Usage before $1 is kept by day only.
WITH edges AS (
  DELETE FROM audit_usage_edges WHERE edge < $1::timestamptz
)
DELETE FROM audit_usage
WHERE quarter < $1::timestamptz AND strand = '00000000-0000-0000-0000-000000000000'
