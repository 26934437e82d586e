-- The open holds of these calls: {id, hold, …}.
-- KEYS[1]: the organization's holds. ARGV: ids.
local found = {}
for i, hold in ipairs(redis.call('HMGET', KEYS[1], unpack(ARGV))) do
  if hold then
    found[#found + 1] = ARGV[i]
    found[#found + 1] = hold
  end
end
return found
