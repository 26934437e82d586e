-- At most $2 items that expired before $1.
DELETE FROM retained_content
WHERE call_id IN (SELECT call_id FROM retained_content WHERE expires < $1::timestamptz LIMIT $2::bigint)
