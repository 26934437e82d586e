-- Removes at most 1000 of an organization's answers; answers how many. Keys as in put-answer.lua.
local index = KEYS[1]
local names = redis.call('ZRANGE', index, 0, 999)
for _, name in ipairs(names) do redis.call('UNLINK', index .. ':' .. name) end
if #names < 1000 then
  redis.call('UNLINK', index, index .. ':sizes')
else
  redis.call('ZREM', index, unpack(names))
end
return #names
