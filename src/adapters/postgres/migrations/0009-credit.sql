-- Money that organizations paid in, and corrections of it: append-only, numbered by organization without gaps, each with
-- the sum up to it, so that the newest entry alone says how much there is.
CREATE TABLE credit_entries (
  organization text NOT NULL,
  number bigint NOT NULL CHECK (number > 0),
  amount_nano_eur bigint NOT NULL CHECK (amount_nano_eur <> 0),
  sum_nano_eur bigint NOT NULL,
  reference text NOT NULL CHECK (reference <> ''),
  note text NOT NULL,
  actor text NOT NULL CHECK (actor <> ''),
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization, number),
  UNIQUE (organization, reference)
);

CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON credit_entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON credit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
