-- Sets a name for a time. Answers 1, or 0 when it was set already and is not to be set anyway.
-- KEYS[1]: the organization's holds. ARGV: name, milliseconds, `1` to set it anyway.
local key = KEYS[1]:sub(1, -6) .. 'mark:' .. ARGV[1]
if ARGV[3] == '1' then return redis.call('SET', key, '1', 'PX', ARGV[2]) and 1 end
return redis.call('SET', key, '1', 'NX', 'PX', ARGV[2]) and 1 or 0
