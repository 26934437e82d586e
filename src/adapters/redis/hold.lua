-- Checks every limit of some calls, one after the other; debits each that all allow, and records its hold. Answers six
-- numbers for each: verdict, retry after, requests left, their reset, tokens left, their reset; milliseconds; -1: none.
-- BUSY alone, in the place of all: a restore is under way.
-- `calls` that are free (empty: holds) leave no hold: one line stands for all, which are alike. As many of them as fit are
-- counted; how many is the seventh number.
-- KEYS[1]: the organization's holds. Every other key is that one with another last part: same slot.
-- ARGV: clock, owner, witness, calls; then id, workload, line, hold of each. `line`: day, month, amount, ceiling, budget
-- period, budget room, cap period, cap room, requests and tokens per minute, tokens, prepaid, budget and cap room beyond which
-- the limit is near, tokens that may be used before it is; `-` is none.
local GRANTED, REQUESTS, TOKENS, BUDGET, CAP, CREDIT, COLD, BUSY, NEAR = 0, 1, 2, 3, 4, 5, 6, 7, 8
local LINE = '^' .. ('(%S+) '):rep(14) .. '(%S+)$'
local holds, owner, witness, calls = KEYS[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local base = holds:sub(1, -6)

if redis.call('EXISTS', base .. 'pause') == 1 then return { BUSY } end
local now = clock(ARGV[1])
local second = math.floor(now / 1000)
local total = base .. 'spend:total'

local windows = {}
local function window_of(key)
  windows[key] = windows[key] or open_window(key, second)
  return windows[key]
end

-- A call that the gateway has in flight and the store does not know: its hold was lost, and maybe others.
local forgetful
local function forgot()
  if forgetful == nil then
    forgetful = witness ~= '' and redis.call('HEXISTS', holds, witness) == 0 and not was_closed(base, now, witness)
  end
  return forgetful
end

local replies = {}
local function answer(verdict, retry, requests_window, rpm, tokens_window, tpm)
  local at = #replies
  replies[at + 1], replies[at + 2] = verdict, retry or -1
  replies[at + 3], replies[at + 4] = left(requests_window, now, rpm)
  replies[at + 5], replies[at + 6] = left(tokens_window, now, tpm)
end

local placed = false
local function place(id, workload, line, hold)
  local day, month, amount, ceiling, budget_period, budget_room, cap_period, cap_room, rpm, tpm, tokens, prepaid,
    budget_near, cap_near, tokens_near = line:match(LINE)
  rpm, tpm, tokens = tonumber(rpm), tonumber(tpm), tonumber(tokens)
  local requests_key, tokens_key = base .. 'requests:' .. workload, base .. 'tokens:' .. workload
  local requests = rpm and window_of(requests_key)
  local reserved = tpm and window_of(tokens_key)
  local function say(verdict, retry) return answer(verdict, retry, requests, rpm, reserved, tpm) end

  if not calls and redis.call('HEXISTS', holds, id) == 1 then return say(NEAR) end
  if rpm and requests.sum + 1 > rpm then return say(REQUESTS, wait(requests, now, 1, rpm)) end
  if tpm and reserved.sum + tokens > tpm then return say(TOKENS, wait(reserved, now, tokens, tpm)) end
  if forgot() then return say(COLD) end

  local field = 'w:' .. workload
  local keys = { total = total, daily = base .. 'spend:' .. day, monthly = base .. 'spend:' .. month }
  local organization, own = {}, {}
  for period, key in pairs(keys) do
    local spent = redis.call('HMGET', key, 'o', field)
    if spent[1] then
      -- A restored period counts every workload: one that is not there has spent nothing.
      organization[period], own[period] = spent[1], spent[2] or '0'
    end
  end
  if budget_period ~= '-' and not own[budget_period] then return say(COLD) end
  if cap_period ~= '-' and not organization[cap_period] then return say(COLD) end
  local credit = prepaid ~= '-' and redis.call('HGET', total, 'c')
  if prepaid ~= '-' and not (credit and organization.total) then return say(COLD) end
  if budget_period ~= '-' and greater(own[budget_period], budget_room) then return say(BUDGET) end
  if cap_period ~= '-' and greater(organization[cap_period], cap_room) then return say(CAP) end
  -- In one order always: `pairs` has none, and which limit is named would be left to chance.
  for _, period in ipairs({ 'total', 'daily', 'monthly' }) do
    if own[period] and greater(own[period], ceiling) then return say(BUDGET) end
    if organization[period] and greater(organization[period], ceiling) then return say(CAP) end
  end

  -- Redis adds, in 64-bit integers; what turns out to be too much is taken back before anybody can see it.
  if credit then
    local free = amount == '0'
    if not free then redis.call('HINCRBY', total, 'o', amount) end
    if greater(free and organization.total or redis.call('HGET', total, 'o'), credit) then
      if not free then redis.call('HINCRBY', total, 'o', '-' .. amount) end
      return say(CREDIT)
    end
  end

  if calls then
    local granted = calls
    if rpm then
      granted = math.min(calls, rpm - requests.sum)
      use(requests, second, granted)
    end
    say(GRANTED)
    replies[7] = granted
    return
  end

  local near = credit
    or (budget_period ~= '-' and greater(own[budget_period], budget_near))
    or (cap_period ~= '-' and greater(organization[cap_period], cap_near))
    or (tpm and reserved.sum > tonumber(tokens_near))
  for period in pairs(organization) do
    if not credit or period ~= 'total' then redis.call('HINCRBY', keys[period], 'o', amount) end
    redis.call('HINCRBY', keys[period], field, amount)
  end
  if rpm then use(requests, second, 1) end
  local counted = tpm and use(reserved, second, tokens) or 0
  -- First: whoever looks for a dead owner's holds looks there only.
  if not placed then redis.call('SADD', base .. 'owners', owner) end
  placed = true
  redis.call('HSET', holds, id, counted .. '\n' .. hold)
  say(near and NEAR or GRANTED)
end

for i = 5, #ARGV, 4 do place(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]) end
return replies
