-- What retention leaves of rows that it dropped after the cut of their strand: enough to go on from one row to the next.
CREATE TABLE audit_withheld (
  strand uuid NOT NULL,
  sequence bigint NOT NULL CHECK (sequence BETWEEN 1 AND 9007199254740991),
  row_hash bytea NOT NULL CHECK (octet_length(row_hash) = 32),
  link bytea NOT NULL CHECK (octet_length(link) = 32),
  PRIMARY KEY (strand, sequence)
);

-- Up to where the rows of a strand were dropped, as a checkpoint says it. `withheld`: JSON, `[[from, to], …]`.
CREATE TABLE checkpoint_cuts (
  checkpoint bigint NOT NULL REFERENCES checkpoints (number),
  strand uuid NOT NULL,
  sequence bigint NOT NULL,
  link bytea NOT NULL,
  withheld text NOT NULL,
  PRIMARY KEY (checkpoint, strand)
);
CREATE INDEX checkpoint_cuts_strand ON checkpoint_cuts (strand, checkpoint);

-- What the dropped rows of a workload come to, over this cut and all before it.
CREATE TABLE checkpoint_carried (
  checkpoint bigint NOT NULL REFERENCES checkpoints (number),
  organization text NOT NULL,
  workload text NOT NULL,
  cost_nano_eur numeric NOT NULL,
  calls bigint NOT NULL,
  salt bytea NOT NULL,
  PRIMARY KEY (organization, workload, checkpoint)
);
CREATE INDEX checkpoint_carried_checkpoint ON checkpoint_carried (checkpoint);

-- Public keys (SPKI, DER) by the names that checkpoints give them, their SHA-256: what a copy of the evidence takes along.
CREATE TABLE checkpoint_keys (
  key text PRIMARY KEY,
  public_key bytea NOT NULL
);

CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON audit_withheld FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON audit_withheld FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON checkpoint_cuts FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON checkpoint_cuts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON checkpoint_carried FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON checkpoint_carried
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON checkpoint_keys FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON checkpoint_keys FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
