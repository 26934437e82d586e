-- Gives up a restore, or ends a look: lifts the pause, if it is still the caller's.
-- KEYS[1]: the organization's holds. ARGV: token.
local pause = KEYS[1]:sub(1, -6) .. 'pause'
if redis.call('GET', pause) == ARGV[1] then redis.call('DEL', pause) end
return 0
