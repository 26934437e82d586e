-- What is kept for an organization at one instant: {the time, holds (id, hold, …), calls closed, period, counters (field,
-- amount, …), …}. Without holds where there are more than may be told at once.
-- KEYS[1]: the organization's holds. ARGV: clock, since when to tell calls closed, or nothing, the most holds.
local base = KEYS[1]:sub(1, -6)
local now = clock(ARGV[1])
local holds = redis.call('HLEN', KEYS[1]) <= tonumber(ARGV[3]) and redis.call('HGETALL', KEYS[1])
local closed = {}
if ARGV[2] ~= '' then
  for minute = math.floor(math.min(tonumber(ARGV[2]), now) / 60000) * 60000, now, 60000 do
    for _, id in ipairs(redis.call('SMEMBERS', closed_key(base, minute))) do closed[#closed + 1] = id end
  end
end
local view = { now, holds, closed }
for _, period in ipairs(redis.call('SMEMBERS', base .. 'periods')) do
  view[#view + 1] = period
  view[#view + 1] = redis.call('HGETALL', base .. 'spend:' .. period)
end
return view
