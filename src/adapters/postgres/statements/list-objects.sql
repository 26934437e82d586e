-- $5: newest first. $6: id of the object before the first one, or null.
SELECT provider, id, kind, organization, workload, credential, extract(epoch FROM made) * 1000 AS made,
  extract(epoch FROM expires) * 1000 AS expires
FROM kept_objects AS listed
WHERE provider = $1 AND organization = $2 AND workload = $3 AND kind = $4 AND kind IN ('file', 'video', 'batch')
  AND expires > $8::timestamptz
  AND ($6::text IS NULL OR EXISTS (
    SELECT FROM kept_objects AS before
    WHERE before.provider = $1 AND before.id = $6 AND before.organization = $2 AND before.workload = $3
      AND before.kind = $4 AND CASE WHEN $5::boolean THEN (listed.made, listed.id) < (before.made, before.id)
        ELSE (listed.made, listed.id) > (before.made, before.id) END))
ORDER BY CASE WHEN $5::boolean THEN made END DESC, CASE WHEN $5::boolean THEN id END DESC, made, id
LIMIT $7::bigint
