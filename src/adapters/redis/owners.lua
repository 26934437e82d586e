-- The processes that have placed holds in an organization, dead ones until their holds are taken over.
-- KEYS[1]: the organization's holds.
return redis.call('SMEMBERS', KEYS[1]:sub(1, -6) .. 'owners')
