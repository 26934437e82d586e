-- One request at a time for a binding: one that was used, or whose time is over, gives way. Nothing comes back where another
-- gateway enters it at the same moment, or where $12 requests of the workload wait, or $13 of the same key and person: ask
-- again to tell.
WITH before AS (
  SELECT state <> 'used' AS expired FROM tool_approvals WHERE binding = $1 AND (state = 'used' OR ends_at <= $10)
), entered AS (
  INSERT INTO tool_approvals
    (binding, id, organization, workload, virtual_key, server, tool, definition, shown, state, asked_at, ends_at,
      person)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, 'waiting', $10, $11, $14
  WHERE (
    SELECT count(*) < $12::bigint
      AND count(*) FILTER (WHERE virtual_key = $5 AND person IS NOT DISTINCT FROM $14) < $13::bigint
    FROM tool_approvals WHERE workload = $4 AND state = 'waiting' AND ends_at > $10
  )
  ON CONFLICT (binding) DO UPDATE SET id = excluded.id, organization = excluded.organization,
    workload = excluded.workload, virtual_key = excluded.virtual_key, server = excluded.server, tool = excluded.tool,
    definition = excluded.definition, shown = excluded.shown, state = excluded.state, asked_at = excluded.asked_at,
    ends_at = excluded.ends_at, person = excluded.person, actor = NULL, reason = NULL, decided_at = NULL
    WHERE tool_approvals.state = 'used' OR tool_approvals.ends_at <= excluded.asked_at
  RETURNING *
), found AS (
  SELECT *, true AS is_new, coalesce((SELECT expired FROM before), false) AS follows_expired FROM entered
  UNION ALL
  SELECT *, false, false FROM tool_approvals
  WHERE binding = $1 AND state <> 'used' AND ends_at > $10 AND NOT EXISTS (SELECT FROM entered)
)
SELECT id, organization, workload, virtual_key, person, server, tool, definition, shown, state,
  extract(epoch FROM asked_at) * 1000 AS asked_at, extract(epoch FROM ends_at) * 1000 AS ends_at, actor, reason,
  extract(epoch FROM decided_at) * 1000 AS decided_at, is_new, follows_expired
FROM found
