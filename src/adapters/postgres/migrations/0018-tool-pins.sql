-- Servers of tools, as one organization knows them. Whoever changes the pins of a server moves its version on, so that of two
-- who decide at the same time one decides again.
CREATE TABLE tool_servers (
  organization text NOT NULL,
  server text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('record', 'pin', 'declared')),
  version bigint NOT NULL,
  PRIMARY KEY (organization, server)
);

-- Definitions that servers have listed. definition: canonical JSON; null where it was too long to keep.
CREATE TABLE tool_pins (
  organization text NOT NULL,
  server text NOT NULL,
  tool text NOT NULL,
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  definition text,
  state text NOT NULL CHECK (state IN ('accepted', 'quarantined', 'removed')),
  since timestamptz NOT NULL,
  actor text NOT NULL,
  PRIMARY KEY (organization, server, tool, sha256),
  FOREIGN KEY (organization, server) REFERENCES tool_servers
);
