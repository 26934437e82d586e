-- At most $3 entries after number $2 of organization $1, organization by organization.
SELECT organization, number, amount_nano_eur, sum_nano_eur, reference, note, actor, salt, adopted,
  to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, encode(link, 'hex') AS link
FROM credit_entries
WHERE (organization, number) > ($1::text, $2::bigint)
ORDER BY organization, number
LIMIT $3::bigint
