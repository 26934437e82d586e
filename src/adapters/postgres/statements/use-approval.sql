UPDATE tool_approvals SET state = 'used' WHERE id = $1 AND state = 'approved' AND ends_at > $2
RETURNING id
