-- Closes holds: replaces held amounts by costs, corrects tokens per minute. Answers 1 (settled) or 0 (no such hold)
-- for each, or {2} alone while a restore is under way.
-- KEYS[1]: the organization's holds. ARGV: clock, line of the owner whose holds they have to be or nothing, then cost,
-- tokens and id of each, with a space between. `~` before the cost: the hold stays open, at that cost and with those tokens.
-- A hold is four lines: second of its tokens, owner, [workload, day, month, amount, tokens, at] as JSON, draft.
local holds = KEYS[1]
local base = holds:sub(1, -6)

if redis.call('EXISTS', base .. 'pause') == 1 then return { 2 } end
local now = clock(ARGV[1])
local second = math.floor(now / 1000)
local scratch = base .. 'difference'

-- The text of cost - held. Redis subtracts, in 64-bit integers; Lua could not.
local function difference(cost, held)
  redis.call('SET', scratch, cost)
  redis.call('DECRBY', scratch, held)
  return redis.call('GET', scratch)
end

-- A counter that would not fit in 64 bits stays at the most that does.
local function add(key, field, amount)
  if type(redis.pcall('HINCRBY', key, field, amount)) == 'table' then
    redis.call('HSET', key, field, '9223372036854775807')
  end
end

local restored = {}
local function is_restored(key)
  if restored[key] == nil then restored[key] = redis.call('HEXISTS', key, 'o') == 1 end
  return restored[key]
end

-- Replaces what was held by what it cost, wherever it was counted.
local function close(id, hold, facts, cost, tokens, stays)
  local workload, day, month, held, reserved, at = unpack(cjson.decode(facts))
  if stays then
    local first, owner, _, draft = hold:match('^([^\n]*)\n([^\n]*)\n([^\n]*)\n(.*)$')
    local known = cjson.encode({ workload, day, month, cost, tokens, at })
    redis.call('HSET', holds, id, first .. '\n' .. owner .. '\n' .. known .. '\n' .. draft)
  else
    redis.call('HDEL', holds, id)
  end
  if held ~= cost then
    local amount = difference(cost, held)
    for _, period in ipairs({ 'total', day, month }) do
      local key = base .. 'spend:' .. period
      if is_restored(key) then
        add(key, 'o', amount)
        add(key, 'w:' .. workload, amount)
      end
    end
  end
  local reserved_in = tonumber(hold:sub(1, hold:find('\n', 1, true) - 1))
  if reserved_in > 0 and tokens ~= reserved then
    correct(base .. 'tokens:' .. workload, second, reserved_in, tokens - reserved)
  end
end

local theirs = ARGV[2]
local closed, results = {}, {}
for i = 3, #ARGV do
  local stays, cost, tokens, id = ARGV[i]:match('^(~?)(%d+) (%d+) (.*)$')
  stays = stays == '~'
  local hold = redis.call('HGET', holds, id)
  local owner, facts
  if hold then owner, facts = hold:match('^[^\n]*\n([^\n]*)\n([^\n]*)\n') end
  if hold and theirs ~= '' and owner ~= theirs then
    results[#results + 1] = 0
  else
    if hold then close(id, hold, facts, cost, tonumber(tokens), stays) end
    if not stays then closed[#closed + 1] = id end
    results[#results + 1] = hold and 1 or 0
  end
end
redis.call('DEL', scratch)

-- A restore must not put back a hold that its owner still believes to be open.
if #closed > 0 then
  redis.call('SADD', closed_key(base, now), unpack(closed))
  redis.call('EXPIRE', closed_key(base, now), 180)
end
return results
