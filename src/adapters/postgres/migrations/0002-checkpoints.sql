-- Signed statements about how far every strand had grown. `statement` is the canonical JSON that is hashed and signed.
CREATE TABLE checkpoints (
  number bigint PRIMARY KEY,
  statement text NOT NULL,
  key text NOT NULL,
  signature bytea NOT NULL
);

-- The heads a checkpoint's Merkle root is over: the last rows of the strands that had grown since the one before.
CREATE TABLE checkpoint_heads (
  checkpoint bigint NOT NULL REFERENCES checkpoints (number),
  strand uuid NOT NULL,
  sequence bigint NOT NULL,
  link bytea NOT NULL,
  PRIMARY KEY (checkpoint, strand)
);
CREATE INDEX checkpoint_heads_strand ON checkpoint_heads (strand, sequence);

CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON checkpoints FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON checkpoints FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON checkpoint_heads FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON checkpoint_heads FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
