-- Keeps a sealed answer. KEYS[1]: the organization's index of answers, a sorted set of names by when they expire
-- (milliseconds). Beside it, in the same slot: `<index>:sizes` (hash: name -> bytes, and `*` for their sum) and one
-- string an answer, `<index>:<name>`. ARGV: name, content, seconds to live, most bytes for the organization, the epoch
-- in which the call was looked up: an answer to a question of an earlier one is not kept.
local index, name, content, ttl, most, epoch = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
if redis.call('GET', index .. ':epoch') ~= epoch then return 0 end
local sizes = index .. ':sizes'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local size = #content

local function forget(which)
  local bytes = redis.call('HGET', sizes, which)
  redis.call('UNLINK', index .. ':' .. which)
  redis.call('ZREM', index, which)
  redis.call('HDEL', sizes, which)
  if bytes then redis.call('HINCRBY', sizes, '*', -bytes) end
end

if size > most then return 0 end
forget(name)
for _, old in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', now, 'LIMIT', 0, 100)) do forget(old) end
while tonumber(redis.call('HGET', sizes, '*') or '0') + size > most do
  local first = redis.call('ZRANGE', index, 0, 0)[1]
  if not first then break end
  forget(first)
end
redis.call('SET', index .. ':' .. name, content, 'EX', ttl)
redis.call('ZADD', index, now + ttl * 1000, name)
redis.call('HSET', sizes, name, size)
redis.call('HINCRBY', sizes, '*', size)
-- The index outlives the last of its answers by a little, then goes too.
local last = redis.call('ZRANGE', index, -1, -1, 'WITHSCORES')[2]
redis.call('PEXPIREAT', index, last + 60000)
redis.call('PEXPIREAT', sizes, last + 60000)
return 1
