-- Begins a restore: no hold and no settlement until `resume`, `release`, or the end of the pause. Puts back those of
-- the caller's holds that were lost. Answers all open holds (id, hold, …), or nothing when another restore is under way.
-- KEYS[1]: the organization's holds. ARGV: clock, token, length of the pause in ms, then id, owner, hold of each.
local holds = KEYS[1]
local base = holds:sub(1, -6)

if not redis.call('SET', base .. 'pause', ARGV[2], 'NX', 'PX', ARGV[3]) then return false end
local now = clock(ARGV[1])
for i = 4, #ARGV, 3 do
  local id, owner, hold = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if not was_closed(base, now, id) then
    -- Second 0: what it had reserved of the tokens per minute is lost with the window.
    redis.call('HSETNX', holds, id, '0\n' .. hold)
    redis.call('SADD', base .. 'owners', owner)
  end
end
return redis.call('HGETALL', holds)
