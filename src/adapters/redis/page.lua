-- A page of an organization's open holds: {where the next one begins, or 0, {id, hold, …}}. What is there from the first
-- page to the last is told once or oftener. Within a pause, nothing when the pause is no longer the caller's.
-- KEYS[1]: the organization's holds. ARGV: where it begins, about how many holds, token of the pause or nothing.
if ARGV[3] ~= '' and redis.call('GET', KEYS[1]:sub(1, -6) .. 'pause') ~= ARGV[3] then return false end
return redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
