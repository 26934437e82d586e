-- Puts back those of a process' holds that were lost with the data. If any was: the spend counters go, so that the next
-- call finds them missing and has them restored, and so does the pause of a restore that knew nothing of these holds.
-- KEYS[1]: the organization's holds. ARGV: clock, then id, owner, hold of each.
local holds = KEYS[1]
local base = holds:sub(1, -6)

local now = clock(ARGV[1])
local lost = 0
for i = 2, #ARGV, 3 do
  local id, owner, hold = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  -- Second 0: what it had reserved of the tokens per minute is lost with the window.
  if not was_closed(base, now, id) and redis.call('HSETNX', holds, id, '0\n' .. hold) == 1 then
    redis.call('SADD', base .. 'owners', owner)
    lost = lost + 1
  end
end
if lost > 0 then
  for _, period in ipairs(redis.call('SMEMBERS', base .. 'periods')) do redis.call('DEL', base .. 'spend:' .. period) end
  redis.call('DEL', base .. 'pause')
end
return lost
