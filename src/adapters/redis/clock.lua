-- The store's clock in milliseconds, so that gateways whose clocks are wrong agree. Only tests pass their own.
local function clock(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
