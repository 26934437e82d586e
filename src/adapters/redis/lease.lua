-- Renews the lease of one gateway process. Answers {1 or 0: may dead owners be told from live ones, milliseconds for
-- which nothing may be restored, the store, live owner, …}.
-- The leases tell nothing until somebody has renewed without a break for a whole lease: after the store was
-- unreachable, or lost its data, live owners need that long to be seen again.
-- A server that was started anew, or has taken over from another, may have lost all data or the latest. From when the
-- first process notices, the others are given a while to put back what they have in flight.
-- KEYS[1]: the leases: `o:<owner>` -> end, `beat` -> last renewal, `since` -> begin of unbroken renewals, `store` -> the
-- server's run and whoever first noticed it; `doubt` -> when that was.
-- ARGV: clock, owner, lease in ms, the store that this process knows or empty, milliseconds to put back.
local leases = KEYS[1]
local now, ttl = clock(ARGV[1]), tonumber(ARGV[3])
local kept = redis.call('HMGET', leases, 'beat', 'since', 'store', 'doubt')
local beat, since = tonumber(kept[1] or 0), tonumber(kept[2] or now)
if now - beat > ttl / 2 or now < beat then since = now end
redis.call('HSET', leases, 'o:' .. ARGV[2], now + ttl, 'beat', now, 'since', since)

-- Who may not ask for it does without: data that are gone altogether are noticed all the same.
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and info:match('run_id:(%x+)') or ''
local known, store, doubt = ARGV[4], kept[3], tonumber(kept[4])
if not store or store:match('^%x*') ~= run then
  doubt = (store or known ~= '') and now
  store = run .. ' ' .. ARGV[2] .. ' ' .. now
  redis.call('HSET', leases, 'store', store)
  redis.call('HDEL', leases, 'doubt')
end
if known ~= '' and known ~= store then doubt = doubt or now end
if doubt then
  doubt = math.min(doubt, now) -- a clock that was set back
  redis.call('HSET', leases, 'doubt', doubt)
end
local patience = tonumber(ARGV[5])
local wait = doubt and math.max(0, doubt + patience - now) or 0

local live = { now - since >= ttl and 1 or 0, wait, store }
local all = redis.call('HGETALL', leases)
for i = 1, #all, 2 do
  if all[i]:sub(1, 2) == 'o:' then
    if tonumber(all[i + 1]) > now then
      live[#live + 1] = all[i]:sub(3)
    else
      redis.call('HDEL', leases, all[i])
    end
  end
end
return live
