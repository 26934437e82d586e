-- Sums of the ledger's rows, kept in the same transaction as the rows: how much an organization has spent must not take
-- longer the longer it has been spending. A strand is written by one process, so that processes never wait for one
-- another here. A day anywhere begins on a quarter of an hour.
CREATE TABLE audit_spend (
  organization text NOT NULL,
  workload text NOT NULL,
  strand uuid NOT NULL,
  quarter timestamptz NOT NULL,
  cost_nano_eur numeric NOT NULL,
  calls bigint NOT NULL,
  PRIMARY KEY (organization, workload, strand, quarter)
) WITH (fillfactor = 70);

INSERT INTO audit_spend (organization, workload, strand, quarter, cost_nano_eur, calls)
SELECT organization, workload, strand, date_bin('15 minutes', at, 'epoch'), sum(cost_nano_eur), count(*)
FROM audit_rows
GROUP BY 1, 2, 3, 4;

-- Rows are looked up by organization and time, no longer summed.
DROP INDEX audit_rows_spend;
CREATE INDEX audit_rows_organization ON audit_rows (organization, at);
