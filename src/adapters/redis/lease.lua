-- Renews the lease of one gateway process. Answers {1 or 0: may dead owners be told from live ones, milliseconds for
-- which nothing may be restored, the data's name, live owner, …}.
-- The leases tell nothing until somebody has renewed without a break for a whole lease: after the store was
-- unreachable, or lost its data, live owners need that long to be seen again.
-- Data that is gone takes its name with it. The first process that knew another name says when that was noticed; for a
-- while from then on the others may still put back what they have in flight.
-- KEYS[1]: the leases: `o:<owner>` -> end, `beat` -> last renewal, `since` -> begin of unbroken renewals, `name` of the
-- data, `lost` -> when the data before it was found to be gone.
-- ARGV: clock, owner, lease in ms, the name that the process knows or empty, milliseconds to put back.
local leases = KEYS[1]
local now, ttl = clock(ARGV[1]), tonumber(ARGV[3])
local kept = redis.call('HMGET', leases, 'beat', 'since', 'name', 'lost')
local beat, since = tonumber(kept[1] or 0), tonumber(kept[2] or now)
if now - beat > ttl / 2 or now < beat then since = now end
local name = kept[3] or (ARGV[2] .. ' ' .. now)
redis.call('HSET', leases, 'o:' .. ARGV[2], now + ttl, 'beat', now, 'since', since, 'name', name)
local lost, patience = tonumber(kept[4]), tonumber(ARGV[5])
if not lost and ARGV[4] ~= '' and ARGV[4] ~= name then
  lost = now
  redis.call('HSET', leases, 'lost', lost)
end
local wait = lost and math.max(0, math.min(patience, lost + patience - now)) or 0

local live = { now - since >= ttl and 1 or 0, wait, name }
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
