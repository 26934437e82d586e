-- KEYS[1]: the index of answers. ARGV: an epoch that never was.
return epoch_of(KEYS[1], ARGV[1])
