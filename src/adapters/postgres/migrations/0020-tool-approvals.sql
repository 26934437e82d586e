-- Calls of tools that a person must approve. binding: stands for the call in all that must be the same when it is made; it has
-- one request at a time, so that an approval that was used or has ended gives way to the next. shown: the arguments without
-- personal data.
CREATE TABLE tool_approvals (
  binding text PRIMARY KEY,
  id uuid NOT NULL UNIQUE,
  organization text NOT NULL,
  workload text NOT NULL,
  virtual_key text NOT NULL,
  server text NOT NULL,
  tool text NOT NULL,
  definition text NOT NULL,
  shown text NOT NULL,
  state text NOT NULL CHECK (state IN ('waiting', 'approved', 'denied', 'used')),
  asked_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  actor text,
  reason text,
  decided_at timestamptz
);
CREATE INDEX tool_approvals_waiting ON tool_approvals (workload, ends_at) WHERE state = 'waiting';
CREATE INDEX tool_approvals_ended ON tool_approvals (ends_at);
