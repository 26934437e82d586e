-- Checks every limit of one call; when all allow, debits them and records the hold. Answers
-- {verdict, retry after, requests left, their reset, tokens left, their reset}; milliseconds; -1: none.
-- `calls` that are free (empty: a hold) leave no hold. As many of them as fit are counted; how many is the seventh answer.
-- KEYS[1]: the organization's holds. Every other key is that one with another last part: same slot.
local now, id, owner, hold, workload, day, month, amount, ceiling, budget_period, budget_room, cap_period, cap_room,
  rpm, tpm, tokens, witness, calls, prepaid = unpack(ARGV)
local GRANTED, REQUESTS, TOKENS, BUDGET, CAP, CREDIT, COLD, BUSY = 0, 1, 2, 3, 4, 5, 6, 7
local holds = KEYS[1]
local base = holds:sub(1, -6)

if redis.call('EXISTS', base .. 'pause') == 1 then return { BUSY } end
now = clock(now)
local second = math.floor(now / 1000)
rpm, tpm, tokens, calls = tonumber(rpm), tonumber(tpm), tonumber(tokens), tonumber(calls)
local requests_window = rpm and open_window(base .. 'requests:' .. workload, second)
local tokens_window = tpm and open_window(base .. 'tokens:' .. workload, second)

local function answer(verdict, retry)
  local requests_left, requests_reset = left(requests_window, now, rpm)
  local tokens_left, tokens_reset = left(tokens_window, now, tpm)
  return { verdict, retry or -1, requests_left, requests_reset, tokens_left, tokens_reset }
end

if not calls and redis.call('HEXISTS', holds, id) == 1 then return answer(GRANTED) end
if rpm and requests_window.sum + 1 > rpm then return answer(REQUESTS, wait(requests_window, now, 1, rpm)) end
if tpm and tokens_window.sum + tokens > tpm then return answer(TOKENS, wait(tokens_window, now, tokens, tpm)) end

-- A call that the gateway has in flight and the store does not know: its hold was lost, and maybe others.
if witness ~= '' and redis.call('HEXISTS', holds, witness) == 0 and not was_closed(base, now, witness) then
  return { COLD }
end

local field = 'w:' .. workload
local keys = { total = base .. 'spend:total', daily = base .. 'spend:' .. day, monthly = base .. 'spend:' .. month }
local organization, own = {}, {}
for period, key in pairs(keys) do
  local spent = redis.call('HMGET', key, 'o', field)
  if spent[1] then
    -- A restored period counts every workload: one that is not there has spent nothing.
    organization[period], own[period] = spent[1], spent[2] or '0'
  end
end
if budget_period ~= '' and not own[budget_period] then return { COLD } end
if cap_period ~= '' and not organization[cap_period] then return { COLD } end
local credit = prepaid ~= '' and redis.call('HGET', keys.total, 'c')
if prepaid ~= '' and not (credit and organization.total) then return { COLD } end
if budget_period ~= '' and greater(own[budget_period], budget_room) then return answer(BUDGET) end
if cap_period ~= '' and greater(organization[cap_period], cap_room) then return answer(CAP) end
-- In one order always: `pairs` has none, and which limit is named would be left to chance.
for _, period in ipairs({ 'total', 'daily', 'monthly' }) do
  if own[period] and greater(own[period], ceiling) then return answer(BUDGET) end
  if organization[period] and greater(organization[period], ceiling) then return answer(CAP) end
end

-- Redis adds, in 64-bit integers; what turns out to be too much is taken back before anybody can see it.
if credit then
  local free = amount == '0'
  if not free then redis.call('HINCRBY', keys.total, 'o', amount) end
  if greater(free and organization.total or redis.call('HGET', keys.total, 'o'), credit) then
    if not free then redis.call('HINCRBY', keys.total, 'o', '-' .. amount) end
    return answer(CREDIT)
  end
end

if calls then
  if rpm then
    calls = math.min(calls, rpm - requests_window.sum)
    use(requests_window, second, calls)
  end
  local granted = answer(GRANTED)
  granted[7] = calls
  return granted
end

for period in pairs(organization) do
  if not credit or period ~= 'total' then redis.call('HINCRBY', keys[period], 'o', amount) end
  redis.call('HINCRBY', keys[period], field, amount)
end
if rpm then use(requests_window, second, 1) end
local reserved = tpm and use(tokens_window, second, tokens) or 0
redis.call('SADD', base .. 'owners', owner)
redis.call('HSET', holds, id, reserved .. '\n' .. hold)
return answer(GRANTED)
