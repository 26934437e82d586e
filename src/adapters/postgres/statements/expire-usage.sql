-- Usage before $1 is kept by day only.
WITH hours AS (
  DELETE FROM audit_usage_hours WHERE hour < $1::timestamptz
)
DELETE FROM audit_usage
WHERE quarter < $1::timestamptz AND strand = '00000000-0000-0000-0000-000000000000'
