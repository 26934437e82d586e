-- All of it or nothing: only who moves the version on from $4 writes. Others with the same version wait for the row of the
-- server, and find it moved. An empty definition is one that is not sent.
WITH entered AS (
  INSERT INTO tool_servers (organization, server, mode, version)
  SELECT $1, $2, $3, 1 WHERE $4::bigint = 0
  ON CONFLICT DO NOTHING
  RETURNING version
), moved AS (
  UPDATE tool_servers SET mode = $3, version = version + 1
  WHERE organization = $1 AND server = $2 AND version = $4::bigint AND $4::bigint > 0
  RETURNING version
), won AS (
  SELECT version FROM entered UNION ALL SELECT version FROM moved
), dropped AS (
  DELETE FROM tool_pins USING won, unnest($5::text[], $6::text[]) AS gone (tool, sha256)
  WHERE organization = $1 AND server = $2 AND tool_pins.tool = gone.tool AND tool_pins.sha256 = gone.sha256
), put AS (
  INSERT INTO tool_pins (organization, server, tool, sha256, state, since, actor, definition)
  SELECT $1, $2, new.tool, new.sha256, new.state, new.since, new.actor, nullif(new.definition, '')
  FROM won, unnest($7::text[], $8::text[], $9::text[], $10::timestamptz[], $11::text[], $12::text[])
    AS new (tool, sha256, state, since, actor, definition)
  ON CONFLICT (organization, server, tool, sha256) DO UPDATE SET state = excluded.state, since = excluded.since,
    actor = excluded.actor, definition = coalesce(excluded.definition, tool_pins.definition)
)
SELECT version FROM won
