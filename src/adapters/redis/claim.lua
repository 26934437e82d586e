-- Moves holds of dead owners to a live one, each only if it is still the dead owner's. Answers the hold, as it is now,
-- or nothing for each.
-- KEYS[1]: the organization's holds. ARGV: new owner, its line, number of dead owners to forget, dead owner and its line
-- of each, then id and dead owner's line of each hold.
local holds = KEYS[1]
local owners = holds:sub(1, -6) .. 'owners'
local owner, line, dead = ARGV[1], ARGV[2], tonumber(ARGV[3])

local function owner_line(hold)
  local from = hold:find('\n', 1, true)
  local to = hold:find('\n', from + 1, true)
  return hold:sub(from + 1, to - 1), from, to
end

local claimed = {}
for i = 4 + 2 * dead, #ARGV, 2 do
  local hold = redis.call('HGET', holds, ARGV[i])
  local result = false
  if hold then
    local current, from, to = owner_line(hold)
    if current == ARGV[i + 1] then
      result = hold:sub(1, from) .. line .. hold:sub(to)
      redis.call('HSET', holds, ARGV[i], result)
      redis.call('SADD', owners, owner)
    end
  end
  claimed[#claimed + 1] = result
end

-- Dead owners without a hold are forgotten: once an owner has died, by the first to come. That looks at every hold: while
-- there are so many that others would wait for long, it is left for later.
local known = false
for i = 4, 2 + 2 * dead, 2 do known = known or redis.call('SISMEMBER', owners, ARGV[i]) == 1 end
if not known or redis.call('HLEN', holds) > 10000 then return claimed end
local busy = {}
for _, hold in ipairs(redis.call('HVALS', holds)) do busy[owner_line(hold)] = true end
for i = 4, 2 + 2 * dead, 2 do
  if not busy[ARGV[i + 1]] then redis.call('SREM', owners, ARGV[i]) end
end
return claimed
