-- Removes at most 1000 of an organization's answers and ends its epoch; answers how many. Keys as in put-answer.lua.
-- Every part ends an epoch of its own: an answer of a later part may have been read after an earlier one.
-- ARGV: an epoch that never was.
local index = KEYS[1]
redis.call('SET', index .. ':epoch', ARGV[1], 'EX', 86400)
local names = redis.call('ZRANGE', index, 0, 999)
for _, name in ipairs(names) do redis.call('UNLINK', index .. ':' .. name) end
if #names < 1000 then
  redis.call('UNLINK', index, index .. ':sizes')
else
  redis.call('ZREM', index, unpack(names))
end
return #names
