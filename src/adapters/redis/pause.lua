-- Begins a restore, or a look at very many holds: no hold and no settlement until `resume`, `release`, or the end of the
-- pause. Answers 0 when another pause is under way.
-- KEYS[1]: the organization's holds. ARGV: token, length of the pause in ms.
return redis.call('SET', KEYS[1]:sub(1, -6) .. 'pause', ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0
