INSERT INTO retained_content (call_id, organization, expires, sealed)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::bytea[])
ON CONFLICT (call_id) DO NOTHING
