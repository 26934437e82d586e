-- At most $2 items of organization $1.
DELETE FROM retained_content
WHERE call_id IN (SELECT call_id FROM retained_content WHERE organization = $1 LIMIT $2::bigint)
