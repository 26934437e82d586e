-- After doubts about the data: puts back those of a process' holds that were lost. The spend counters go, so that the next
-- call has them restored from the ledger, and so does the pause of a restore that knew nothing of these holds.
-- KEYS[1]: the organization's holds. ARGV: clock, 1 for counters to go in any case, or 0 when all had their time to put
-- back: then only if some hold was lost; then id, owner, hold of each.
local holds = KEYS[1]
local base = holds:sub(1, -6)

local now = clock(ARGV[1])
local cold = ARGV[2] == '1'
for i = 3, #ARGV, 3 do
  local id, owner, hold = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  -- Second 0: what it had reserved of the tokens per minute is lost with the window.
  if not was_closed(base, now, id) and redis.call('HSETNX', holds, id, '0\n' .. hold) == 1 then
    redis.call('SADD', base .. 'owners', owner)
    cold = true
  end
end
if cold then
  for _, period in ipairs(redis.call('SMEMBERS', base .. 'periods')) do redis.call('DEL', base .. 'spend:' .. period) end
  redis.call('DEL', base .. 'pause')
end
return 0
