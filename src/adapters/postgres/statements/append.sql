-- Writes a batch, and adds what is new to the sums. Rows that are there already are left as they are; a row of a call
-- that another strand has sealed goes to audit_superseded. The last part is not run when every row was new.
WITH batch AS (
  SELECT *
  FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::bytea[])
    AS batch (call_id, strand, sequence, at, organization, workload, cost_nano_eur, row_text, link)
), inserted AS (
  INSERT INTO audit_rows (call_id, strand, sequence, at, organization, workload, cost_nano_eur, row_text, link)
  SELECT call_id, strand, sequence, at, organization, workload, cost_nano_eur, row_text, link FROM batch
  ON CONFLICT (call_id) DO NOTHING
  RETURNING strand, sequence, at, organization, workload, cost_nano_eur
), summed AS (
  INSERT INTO audit_spend AS spend (organization, workload, strand, quarter, cost_nano_eur, calls)
  SELECT organization, workload, strand, date_bin('15 minutes', at, 'epoch'), sum(cost_nano_eur), count(*)
  FROM inserted
  GROUP BY 1, 2, 3, 4
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (organization, workload, strand, quarter) DO UPDATE
  SET cost_nano_eur = spend.cost_nano_eur + excluded.cost_nano_eur, calls = spend.calls + excluded.calls
)
INSERT INTO audit_superseded (strand, sequence, call_id, at, organization, workload, cost_nano_eur, row_text, link)
SELECT strand, sequence, call_id, at, organization, workload, cost_nano_eur, row_text, link
FROM batch
WHERE (SELECT count(*) FROM inserted) < cardinality($1)
  AND NOT EXISTS (SELECT FROM inserted WHERE inserted.strand = batch.strand AND inserted.sequence = batch.sequence)
  AND NOT EXISTS (
    SELECT FROM audit_rows
    WHERE audit_rows.call_id = batch.call_id
      AND audit_rows.strand = batch.strand
      AND audit_rows.sequence = batch.sequence
  )
ON CONFLICT (strand, sequence) DO NOTHING
