-- Which of the calls $1 are of a time that retention dropped the rows of, by the last cut that checkpoints tell.
SELECT call_id
FROM unnest($1::uuid[]) AS calls (call_id)
WHERE call_id < (
  SELECT first_call_id(max((substring(statement FROM '"before":"(\d{4}-(?:0[1-9]|1[0-2]))"') || '-01T00:00:00Z')::timestamptz))
  FROM checkpoints
  WHERE number IN (SELECT checkpoint FROM checkpoint_carried UNION SELECT checkpoint FROM checkpoint_cuts)
)
