-- Ends a restore: sets the spend counters and lifts the pause. Answers 0, and changes nothing, when the pause is no
-- longer the caller's.
-- KEYS[1]: the organization's holds. ARGV: token, day, month, then field, total, day's, month's amount of each scope.
local base = KEYS[1]:sub(1, -6)
local DAY = 86400

if redis.call('GET', base .. 'pause') ~= ARGV[1] then return 0 end
local keys = { base .. 'spend:total', base .. 'spend:' .. ARGV[2], base .. 'spend:' .. ARGV[3] }
redis.call('DEL', unpack(keys))
for i = 4, #ARGV, 4 do
  for k = 1, 3 do redis.call('HSET', keys[k], ARGV[i], ARGV[i + k]) end
end
redis.call('EXPIRE', keys[2], 3 * DAY)
redis.call('EXPIRE', keys[3], 40 * DAY)

local periods = base .. 'periods'
redis.call('SADD', periods, 'total', ARGV[2], ARGV[3])
for _, period in ipairs(redis.call('SMEMBERS', periods)) do
  if redis.call('EXISTS', base .. 'spend:' .. period) == 0 then redis.call('SREM', periods, period) end
end
redis.call('DEL', base .. 'pause')
return 1
