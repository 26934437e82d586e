-- Uses in a sliding minute: a hash with one field a second, their `sum`, and the `first` and `last` second in use.
-- A second is counted for 61 s from its start, so that its latest use counts for at least 60.
local SPAN = 61

local function seconds(from, to)
  local list = {}
  for second = from, to do list[#list + 1] = second end
  return list
end

-- Drops seconds up to `stale`; moves `first` to the oldest second with uses.
local function drop(window, stale)
  local list = seconds(window.first, window.last)
  local counts = redis.call('HMGET', window.key, unpack(list))
  local gone, first = {}, nil
  for i, second in ipairs(list) do
    local uses = tonumber(counts[i] or 0)
    if second <= stale or uses == 0 then
      gone[#gone + 1] = second
      window.sum = window.sum - uses
    else
      first = second
      break
    end
  end
  if not first then
    redis.call('DEL', window.key)
    return { key = window.key, sum = 0, uses = 0 }
  end
  window.first = first
  if #gone > 0 then redis.call('HDEL', window.key, unpack(gone)) end
  redis.call('HSET', window.key, 'sum', window.sum, 'first', first)
  return window
end

-- The window as it stands at `second`.
local function open_window(key, second)
  local kept = redis.call('HMGET', key, 'sum', 'first', 'last', second)
  if not kept[1] then return { key = key, sum = 0, uses = 0 } end
  local window = {
    key = key, sum = tonumber(kept[1]), first = tonumber(kept[2]), last = tonumber(kept[3]),
    uses = tonumber(kept[4] or 0), -- in `second`
  }
  -- The second half: a clock set back by more than the window; what it counted lies in the future.
  if window.last <= second - SPAN or window.last > second + SPAN then
    redis.call('DEL', key)
    return { key = key, sum = 0, uses = 0 }
  end
  if window.first <= second - SPAN then return drop(window, second - SPAN) end
  return window
end

-- Adds to what was counted in `second`, `was`. All in one call: this is the hot path.
local function count(window, second, was, difference)
  window.sum = window.sum + difference
  if second == window.last then
    redis.call('HSET', window.key, 'sum', window.sum, second, was + difference)
    return
  end
  window.first = math.min(window.first or second, second)
  window.last = math.max(window.last or second, second)
  redis.call('HSET', window.key, 'sum', window.sum, 'first', window.first, 'last', window.last, second, was + difference)
  redis.call('EXPIRE', window.key, 2 * SPAN)
end

-- Counts `uses` now, or in the window's last second when the clock was set back a little. Answers the second.
local function use(window, second, uses)
  if window.last and window.last > second then
    second = window.last
    window.uses = tonumber(redis.call('HGET', window.key, second))
  end
  if uses > 0 then
    count(window, second, window.uses, uses)
    window.uses = window.uses + uses
  end
  return second
end

-- Adds `difference` to what was counted in `second`, if that second still counts.
local function correct(key, now, second, difference)
  if second <= now - SPAN or second > now + SPAN then return end
  local window = open_window(key, now)
  local was = tonumber(redis.call('HGET', key, second) or 0)
  if was + difference < 0 then difference = -was end
  if difference == 0 then return end
  count(window, second, was, difference)
  if window.first == second and was + difference == 0 then drop(window, now - SPAN) end
end

-- Milliseconds until `uses` more fit; -1: never, they are more than the limit.
local function wait(window, now, uses, limit)
  if uses > limit then return -1 end
  local list = seconds(window.first, window.last)
  local counts = redis.call('HMGET', window.key, unpack(list))
  local excess = window.sum + uses - limit
  for i, second in ipairs(list) do
    excess = excess - tonumber(counts[i] or 0)
    if excess <= 0 then return (second + SPAN) * 1000 - now end
  end
  return -1
end

-- What is left of `limit`, and milliseconds until the oldest use leaves; -1, 0 when there is no limit.
local function left(window, now, limit)
  if not window then return -1, 0 end
  local reset = window.first and (window.first + SPAN) * 1000 - now or 0
  return math.max(0, limit - window.sum), reset
end
