-- What a gateway tells of itself: KEYS[1] the reports, ARGV its name and a report, with when it was told before it.
local now = redis.call('TIME')
redis.call('HSET', KEYS[1], ARGV[1], now[1] .. ' ' .. ARGV[2])
return 1
