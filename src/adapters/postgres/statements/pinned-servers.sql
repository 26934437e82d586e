SELECT organization, server, mode, count(*) FILTER (WHERE state = 'accepted') AS accepted,
  count(*) FILTER (WHERE state = 'quarantined') AS quarantined, count(*) FILTER (WHERE state = 'removed') AS removed
FROM tool_servers LEFT JOIN tool_pins USING (organization, server)
GROUP BY organization, server
ORDER BY organization, server
