-- The newest entry of each of these organizations, and the newest that paid something in.
SELECT asked.organization, newest.number, newest.sum_nano_eur, paid.number AS paid_number, paid.amount_nano_eur AS paid_amount,
  extract(epoch FROM paid.at) * 1000 AS paid_at
FROM unnest($1::text[]) AS asked (organization)
CROSS JOIN LATERAL (
  SELECT number, sum_nano_eur FROM credit_entries
  WHERE organization = asked.organization
  ORDER BY number DESC
  LIMIT 1
) AS newest
LEFT JOIN LATERAL (
  SELECT number, amount_nano_eur, at FROM credit_entries
  WHERE organization = asked.organization AND amount_nano_eur > 0
  ORDER BY number DESC
  LIMIT 1
) AS paid ON true
