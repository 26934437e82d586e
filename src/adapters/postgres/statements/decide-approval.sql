UPDATE tool_approvals SET state = $3, actor = $4, reason = $5, decided_at = $6, ends_at = $7
WHERE id = $1 AND organization = coalesce($2, organization) AND state = 'waiting' AND ends_at > $6
RETURNING id, organization, workload, virtual_key, person, server, tool, definition, shown, state,
  extract(epoch FROM asked_at) * 1000 AS asked_at, extract(epoch FROM ends_at) * 1000 AS ends_at, actor, reason,
  extract(epoch FROM decided_at) * 1000 AS decided_at
