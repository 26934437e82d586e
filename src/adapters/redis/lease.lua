-- Renews the lease of one gateway process. Answers {1 or 0: may dead owners be told from live ones, live owner, …}.
-- The leases tell nothing until somebody has renewed without a break for a whole lease: after the store was
-- unreachable, or lost its data, live owners need that long to be seen again.
-- KEYS[1]: the leases: `o:<owner>` -> end, `beat` -> last renewal, `since` -> begin of unbroken renewals.
-- ARGV: clock, owner, lease in ms.
local leases = KEYS[1]
local now, ttl = clock(ARGV[1]), tonumber(ARGV[3])
local kept = redis.call('HMGET', leases, 'beat', 'since')
local beat, since = tonumber(kept[1] or 0), tonumber(kept[2] or now)
if now - beat > ttl / 2 or now < beat then since = now end
redis.call('HSET', leases, 'o:' .. ARGV[2], now + ttl, 'beat', now, 'since', since)

local live = { now - since >= ttl and 1 or 0 }
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
