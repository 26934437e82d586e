SELECT tool, sha256, state, extract(epoch FROM since) * 1000 AS since, actor, definition
FROM tool_pins WHERE organization = $1 AND server = $2 AND tool = $3
ORDER BY state, sha256
