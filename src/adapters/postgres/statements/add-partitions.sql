-- The partitions of the month that $1 falls in (UTC) and of the $2 months after it.
SELECT to_char(month, 'YYYY-MM') AS month, make_audit_partition(month) AS added
FROM generate_series(
  date_trunc('month', $1::timestamptz AT TIME ZONE 'UTC'),
  date_trunc('month', $1::timestamptz AT TIME ZONE 'UTC') + make_interval(months => $2::int),
  interval '1 month'
) AS month
