-- Gateways may run under a role that owns nothing here. Partitions are made for them by the owner of the tables, who owns
-- what comes of it; nobody else may have them made but whom `gwctl migrate --grant-to` names. Months only: a partition of
-- other bounds would be dropped by retention under a false name.
CREATE FUNCTION make_audit_partition(month timestamp) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF (month = date_trunc('month', month) AND month >= '1970-01-01' AND month < '9999-12-31') IS NOT TRUE THEN
    RAISE EXCEPTION '% is no month of the audit ledger', month USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN add_audit_partition(month);
END $$;
REVOKE ALL ON FUNCTION make_audit_partition(timestamp) FROM PUBLIC;

-- Names mean what they mean where the ledger is, whatever the caller's search path; what the caller could make, last of all.
DO $$
DECLARE
  place text := (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = 'audit_rows'::regclass);
BEGIN
  EXECUTE format('ALTER FUNCTION make_audit_partition(timestamp) SET search_path = %s, pg_temp', place);
END $$;
