DELETE FROM tool_approvals WHERE ends_at < $1
RETURNING id
