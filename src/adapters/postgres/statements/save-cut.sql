-- What checkpoint $1 says of dropped rows: strands ($2 to $5) and sums ($6 to $10).
WITH cuts AS (
  INSERT INTO checkpoint_cuts (checkpoint, strand, sequence, link, withheld)
  SELECT $1::bigint, cut.* FROM unnest($2::uuid[], $3::bigint[], $4::bytea[], $5::text[]) AS cut
)
INSERT INTO checkpoint_carried (checkpoint, organization, workload, cost_nano_eur, calls, salt)
SELECT $1::bigint, organization, workload, cost::numeric, calls, salt
FROM unnest($6::text[], $7::text[], $8::text[], $9::bigint[], $10::bytea[])
  AS carried (organization, workload, cost, calls, salt)
