SELECT organization, number, amount_nano_eur, sum_nano_eur, reference, note, actor, extract(epoch FROM at) * 1000 AS at
FROM credit_entries
WHERE organization = $1::text
ORDER BY number
