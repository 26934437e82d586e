-- Documents that are anonymized while nobody waits. What is to be done and what came of it is sealed by the gateway.
CREATE TABLE document_jobs (
  id uuid PRIMARY KEY,
  organization text NOT NULL,
  workload text NOT NULL,
  key text NOT NULL,
  -- arriving: its document is being stored.
  state text NOT NULL CHECK (state IN ('arriving', 'queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired')),
  created timestamptz NOT NULL,
  -- Not taken up before.
  due timestamptz NOT NULL,
  lease uuid,
  leased_until timestamptz,
  takes integer NOT NULL DEFAULT 0,
  cancel boolean NOT NULL DEFAULT false,
  -- Its end is sealed in the ledger.
  closed boolean NOT NULL DEFAULT false,
  pages integer,
  error_code text,
  error_message text,
  expires timestamptz,
  ended timestamptz,
  sealed_order bytea NOT NULL,
  sealed_outcome bytea,
  -- Null: not stored.
  input_bytes bigint,
  result_bytes bigint
);

CREATE INDEX document_jobs_open ON document_jobs (due) WHERE NOT closed;
CREATE INDEX document_jobs_open_organization ON document_jobs (organization) WHERE NOT closed;
CREATE INDEX document_jobs_stored ON document_jobs (expires) WHERE input_bytes IS NOT NULL OR result_bytes IS NOT NULL;
CREATE INDEX document_jobs_ended ON document_jobs (ended) WHERE closed;

CREATE TABLE document_job_files (
  job uuid NOT NULL,
  part text NOT NULL,
  number integer NOT NULL,
  sealed bytea NOT NULL,
  PRIMARY KEY (job, part, number)
);

-- Sealed bytes don't compress: trying costs time.
ALTER TABLE document_job_files ALTER COLUMN sealed SET STORAGE EXTERNAL;
