-- The last entry of every organization that has entered credit since the last checkpoint that says so. Jumps from
-- organization to organization in the index.
WITH RECURSIVE organizations AS (
  (SELECT organization FROM credit_entries ORDER BY organization LIMIT 1)
  UNION ALL
  SELECT (
    SELECT organization FROM credit_entries
    WHERE organization > organizations.organization
    ORDER BY organization
    LIMIT 1
  )
  FROM organizations
  WHERE organizations.organization IS NOT NULL
)
SELECT newest.organization, newest.number, encode(newest.link, 'hex') AS link
FROM organizations
CROSS JOIN LATERAL (
  SELECT organization, number, link FROM credit_entries
  WHERE organization = organizations.organization
  ORDER BY number DESC
  LIMIT 1
) AS newest
LEFT JOIN LATERAL (
  SELECT number FROM checkpoint_credit WHERE organization = organizations.organization ORDER BY number DESC LIMIT 1
) AS known ON true
WHERE newest.number > coalesce(known.number, 0)
ORDER BY newest.organization COLLATE "C"
