-- Makes the partition of a month (UTC) while others write: it is attached, which lets the parent be read and written
-- meanwhile. Rows of that month which have gone to the default partition (a clock was wrong, or nobody made partitions for
-- long) are moved into it, as they are. False when it is there already, or when somebody has been reading for so long
-- that the default partition could not be had at once: then the next time.
CREATE OR REPLACE FUNCTION add_audit_partition(month timestamp) RETURNS boolean LANGUAGE plpgsql
SET lock_timeout = '1s' AS $$
DECLARE
  name text := 'audit_rows_' || to_char(month, 'YYYY_MM');
  first_id uuid := first_call_id(month AT TIME ZONE 'UTC');
  next_id uuid := first_call_id((month + interval '1 month') AT TIME ZONE 'UTC');
BEGIN
  IF to_regclass(quote_ident(name)) IS NOT NULL THEN
    RETURN false;
  END IF;
  EXECUTE format('CREATE TABLE %I (LIKE audit_rows INCLUDING ALL)', name);
  LOCK TABLE audit_rows_default IN ACCESS EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM audit_rows_default WHERE call_id >= first_id AND call_id < next_id) THEN
    ALTER TABLE audit_rows_default DISABLE TRIGGER refuse_change;
    EXECUTE format(
      'WITH moved AS (DELETE FROM audit_rows_default WHERE call_id >= %L AND call_id < %L RETURNING *)
       INSERT INTO %I SELECT * FROM moved', first_id, next_id, name);
    ALTER TABLE audit_rows_default ENABLE TRIGGER refuse_change;
  END IF;
  EXECUTE format('ALTER TABLE audit_rows ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, first_id, next_id);
  EXECUTE format(
    'CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', name);
  RETURN true;
EXCEPTION WHEN lock_not_available THEN
  RETURN false;
END $$;
