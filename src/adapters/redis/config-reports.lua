-- Reports of gateways that live: KEYS[1] the reports. Those older than ARGV[1] seconds are dropped.
local now = tonumber(redis.call('TIME')[1])
local found = {}
local all = redis.call('HGETALL', KEYS[1])
for index = 1, #all, 2 do
  local name, at, report = all[index], string.match(all[index + 1], '^(%d+) (.*)$')
  if at and now - tonumber(at) <= tonumber(ARGV[1]) then
    found[#found + 1] = name
    found[#found + 1] = report
  else
    redis.call('HDEL', KEYS[1], name)
  end
end
return found
