-- Within a restore: puts back those of the caller's holds that were lost. Answers 1, or nothing when the pause is no longer
-- the caller's.
-- KEYS[1]: the organization's holds. ARGV: clock, token, then id, owner, hold of each.
local holds = KEYS[1]
local base = holds:sub(1, -6)

if redis.call('GET', base .. 'pause') ~= ARGV[2] then return false end
local now = clock(ARGV[1])
for i = 3, #ARGV, 3 do
  local id, owner, hold = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if not was_closed(base, now, id) then
    -- Second 0: what it had reserved of the tokens per minute is lost with the window.
    redis.call('HSETNX', holds, id, '0\n' .. hold)
    redis.call('SADD', base .. 'owners', owner)
  end
end
return 1
