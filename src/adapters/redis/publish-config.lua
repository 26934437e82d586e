-- Puts configuration in force: KEYS[1] the head, ARGV epoch, seq, manifest, signature. Its segments are kept from now on,
-- those of the one before for a minute more, for whoever is reading them. Longer, and many changes one after the other
-- would fill the store.
local epoch, seq = tonumber(ARGV[1]), tonumber(ARGV[2])
local base = string.sub(KEYS[1], 1, -1 - #'current')
local before = redis.call('HMGET', KEYS[1], 'epoch', 'seq', 'manifest')
local at_epoch, at_seq = tonumber(before[1] or '0'), tonumber(before[2] or '0')
if epoch < at_epoch then return { 'fenced', at_epoch, at_seq } end
if epoch == at_epoch and seq <= at_seq then return { 'stale', at_epoch, at_seq } end

local named, missing = {}, { 'missing' }
for _, digest in pairs(cjson.decode(ARGV[3]).segments) do
  named[digest] = true
  if redis.call('EXISTS', base .. 'seg:' .. digest) == 0 then missing[#missing + 1] = digest end
end
if #missing > 1 then return missing end

for digest in pairs(named) do redis.call('PERSIST', base .. 'seg:' .. digest) end
if before[3] then
  for _, digest in pairs(cjson.decode(before[3]).segments) do
    if not named[digest] then redis.call('EXPIRE', base .. 'seg:' .. digest, 60) end
  end
end
redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'seq', ARGV[2], 'manifest', ARGV[3], 'signature', ARGV[4])
redis.call('PUBLISH', base .. 'published', ARGV[1] .. '-' .. ARGV[2])
return { 'published', at_epoch, at_seq }
