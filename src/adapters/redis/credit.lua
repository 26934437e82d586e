-- Makes a sum of credit known that is not older: fields of the total, so that they are lost and restored together with it.
-- KEYS[1]: the organization's holds. ARGV: number of the last entry in the sum, the sum.
local total = KEYS[1]:sub(1, -6) .. 'spend:total'
local known = redis.call('HMGET', total, 'o', 'cn')
if known[1] and (not known[2] or tonumber(ARGV[1]) >= tonumber(known[2])) then
  redis.call('HSET', total, 'cn', ARGV[1], 'c', ARGV[2])
end
return 0
