SELECT id, organization, workload, virtual_key, person, server, tool, definition, shown, state,
  extract(epoch FROM asked_at) * 1000 AS asked_at, extract(epoch FROM ends_at) * 1000 AS ends_at, actor, reason,
  extract(epoch FROM decided_at) * 1000 AS decided_at
FROM tool_approvals
WHERE organization = coalesce($1, organization) AND id = coalesce($2, id)
ORDER BY tool_approvals.asked_at DESC, id
LIMIT 1000
