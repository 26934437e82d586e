-- Credit entries are linked, by organization, as audit rows are by strand: an entry that is changed, taken away or put in
-- between no longer follows from the one before it, and checkpoints say how far each organization's entries had come.
-- Whoever inserts, a gwctl of an earlier build too, has its entry linked by the trigger. The salt keeps who sees only hashes
-- from guessing. Entries of before are linked as they are found: `adopted`.
ALTER TABLE credit_entries
  ADD COLUMN salt uuid NOT NULL DEFAULT gen_random_uuid(),
  ADD COLUMN adopted boolean NOT NULL DEFAULT true,
  ADD COLUMN link bytea CHECK (octet_length(link) = 32);
ALTER TABLE credit_entries ALTER COLUMN adopted SET DEFAULT false;

-- RFC 8785 canonical JSON: what the link hashes.
CREATE FUNCTION credit_entry_text(entry credit_entries) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT '{"actor":' || to_json(entry.actor)::text
    || ',"adopted":' || entry.adopted::text
    || ',"amount_nano_eur":"' || entry.amount_nano_eur
    || '","at":"' || to_char(entry.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    || '","note":' || to_json(entry.note)::text
    || ',"number":' || entry.number
    || ',"organization":' || to_json(entry.organization)::text
    || ',"reference":' || to_json(entry.reference)::text
    || ',"salt":"' || entry.salt
    || '","sum_nano_eur":"' || entry.sum_nano_eur
    || '","v":1}'
$$;

CREATE FUNCTION credit_entry_link(entry credit_entries) RETURNS bytea LANGUAGE plpgsql STABLE AS $$
DECLARE
  before bytea;
BEGIN
  IF entry.number = 1 THEN
    before := sha256(convert_to(E'gatewarden credit v1\n' || entry.organization, 'UTF8'));
  ELSE
    SELECT link INTO before FROM credit_entries
    WHERE organization = entry.organization AND number = entry.number - 1;
  END IF;
  IF before IS NULL THEN
    RAISE EXCEPTION 'credit entry % of % follows from no other', entry.number, entry.organization
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN sha256(before || sha256(convert_to(credit_entry_text(entry), 'UTF8')));
END $$;

ALTER TABLE credit_entries DISABLE TRIGGER refuse_change;
DO $$
DECLARE
  entry credit_entries;
BEGIN
  FOR entry IN SELECT * FROM credit_entries ORDER BY organization, number LOOP
    UPDATE credit_entries SET link = credit_entry_link(entry)
    WHERE organization = entry.organization AND number = entry.number;
  END LOOP;
END $$;
ALTER TABLE credit_entries ENABLE TRIGGER refuse_change;
ALTER TABLE credit_entries ALTER COLUMN link SET NOT NULL;

CREATE FUNCTION link_credit_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.adopted := false;
  NEW.link := credit_entry_link(NEW);
  RETURN NEW;
END $$;
CREATE TRIGGER link_credit_entry BEFORE INSERT ON credit_entries
  FOR EACH ROW EXECUTE FUNCTION link_credit_entry();

-- The last entries of the organizations that had new ones, which the credit root of a checkpoint is over.
CREATE TABLE checkpoint_credit (
  checkpoint bigint NOT NULL REFERENCES checkpoints (number),
  organization text NOT NULL,
  number bigint NOT NULL,
  link bytea NOT NULL,
  PRIMARY KEY (checkpoint, organization)
);
CREATE INDEX checkpoint_credit_organization ON checkpoint_credit (organization, number);

CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON checkpoint_credit FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON checkpoint_credit
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
