-- $3: the version that is known; its pins are not sent again.
SELECT kept.mode, kept.version, pin.tool, pin.sha256, pin.state, extract(epoch FROM pin.since) * 1000 AS since, pin.actor
FROM tool_servers AS kept
LEFT JOIN tool_pins AS pin
  ON pin.organization = kept.organization AND pin.server = kept.server AND kept.version <> $3::bigint
WHERE kept.organization = $1 AND kept.server = $2
ORDER BY pin.tool, pin.sha256
