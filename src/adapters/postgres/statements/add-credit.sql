-- Enters $2 for organization $1 behind its last entry, unless there is one of reference $3.
INSERT INTO credit_entries (organization, number, amount_nano_eur, sum_nano_eur, reference, note, actor)
SELECT $1::text, coalesce(max(number), 0) + 1, $2::bigint, coalesce(sum(amount_nano_eur), 0) + $2::bigint, $3::text, $4::text, $5::text
FROM credit_entries
WHERE organization = $1::text
ON CONFLICT (organization, reference) DO NOTHING
