-- Calls of which there is more than one row that counts: at most a thousand. The key of a partition refuses such a row, but
-- who can write to every table can drop a key.
SELECT DISTINCT call_id
FROM (SELECT call_id, lag(call_id) OVER (ORDER BY call_id) AS before FROM audit_rows) AS ids
WHERE call_id = before
LIMIT 1000
