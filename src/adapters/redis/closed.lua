-- Ids of calls that were settled, or whose settlement found no hold, by the minute; kept for a minute or two.
local function closed_key(base, now)
  return base .. 'closed:' .. math.floor(now / 60000)
end

local function was_closed(base, now, id)
  return redis.call('SISMEMBER', closed_key(base, now), id) == 1
    or redis.call('SISMEMBER', closed_key(base, now - 60000), id) == 1
end
