-- The epoch of an organization's answers, beside its index (see put-answer.lua): `<index>:epoch`. One that is not there,
-- be it new, expired or evicted, becomes one that never was: what is known of another is out of date then.
local function epoch_of(index, fresh)
  local key = index .. ':epoch'
  local epoch = redis.call('GET', key)
  if epoch then return epoch end
  redis.call('SET', key, fresh, 'EX', 86400)
  return fresh
end
