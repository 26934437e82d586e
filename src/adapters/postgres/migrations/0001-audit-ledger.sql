-- The audit ledger. One row a call, linked into the strand of the process that sealed it. `row_text` is the evidence;
-- the columns beside it repeat some of it for queries. Money is whole nano-euro: a bigint holds nine milliard euro.
CREATE TABLE audit_rows (
  call_id uuid PRIMARY KEY,
  strand uuid NOT NULL,
  sequence bigint NOT NULL CHECK (sequence BETWEEN 1 AND 9007199254740991),
  at timestamptz NOT NULL,
  organization text NOT NULL,
  workload text NOT NULL,
  cost_nano_eur bigint NOT NULL,
  row_text text NOT NULL,
  link bytea NOT NULL CHECK (octet_length(link) = 32)
) PARTITION BY RANGE (call_id);

-- Call ids are UUIDv7: cut by time, and still unique over all partitions.
CREATE TABLE audit_rows_default PARTITION OF audit_rows DEFAULT;

CREATE INDEX audit_rows_spend ON audit_rows (organization, at) INCLUDE (workload, cost_nano_eur);
CREATE INDEX audit_rows_chain ON audit_rows (strand, sequence);

-- Rows of calls that another strand had sealed already: not counted, kept so that their own strand has no gap.
CREATE TABLE audit_superseded (
  strand uuid NOT NULL,
  sequence bigint NOT NULL CHECK (sequence BETWEEN 1 AND 9007199254740991),
  call_id uuid NOT NULL,
  at timestamptz NOT NULL,
  organization text NOT NULL,
  workload text NOT NULL,
  cost_nano_eur bigint NOT NULL,
  row_text text NOT NULL,
  link bytea NOT NULL CHECK (octet_length(link) = 32),
  PRIMARY KEY (strand, sequence)
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % refused: the audit ledger is append-only', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation';
END $$;

-- Partitions inherit row triggers; truncation is refused for each of them on its own.
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON audit_rows FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON audit_rows FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON audit_rows_default
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON audit_superseded
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON audit_superseded
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The lowest UUIDv7 of an instant.
CREATE FUNCTION first_call_id(instant timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM instant) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Makes the partition of a month (UTC). False when it is there already, or when rows of that month have gone to the
-- default partition: they are not moved, so the month stays there.
CREATE FUNCTION add_audit_partition(month timestamp) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  name text := 'audit_rows_' || to_char(month, 'YYYY_MM');
  first_id uuid := first_call_id(month AT TIME ZONE 'UTC');
  next_id uuid := first_call_id((month + interval '1 month') AT TIME ZONE 'UTC');
BEGIN
  IF to_regclass(quote_ident(name)) IS NOT NULL OR EXISTS (
    SELECT FROM audit_rows_default WHERE call_id >= first_id AND call_id < next_id
  ) THEN
    RETURN false;
  END IF;
  EXECUTE format('CREATE TABLE %I PARTITION OF audit_rows FOR VALUES FROM (%L) TO (%L)', name, first_id, next_id);
  EXECUTE format(
    'CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', name);
  RETURN true;
END $$;
