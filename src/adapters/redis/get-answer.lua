-- The first of some answers that is there. KEYS[1]: the index of answers, see put-answer.lua. ARGV: an epoch that never
-- was, then names. Answers {epoch}, or {epoch, place of the name, content, milliseconds to live}.
local index = KEYS[1]
local epoch = epoch_of(index, ARGV[1])
for i = 2, #ARGV do
  local key = index .. ':' .. ARGV[i]
  local content = redis.call('GET', key)
  if content then return { epoch, i - 2, content, redis.call('PTTL', key) } end
end
return { epoch }
