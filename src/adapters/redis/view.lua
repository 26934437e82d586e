-- Everything kept for an organization at one instant: {holds (id, hold, …), period, counters (field, amount, …), …}.
-- KEYS[1]: the organization's holds.
local base = KEYS[1]:sub(1, -6)
local view = { redis.call('HGETALL', KEYS[1]) }
for _, period in ipairs(redis.call('SMEMBERS', base .. 'periods')) do
  view[#view + 1] = period
  view[#view + 1] = redis.call('HGETALL', base .. 'spend:' .. period)
end
return view
