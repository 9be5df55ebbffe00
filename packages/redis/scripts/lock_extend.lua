-- Keep a lock for longer, if it is still the owner's.
-- Keys:    1 the lock
-- Args:    1 owner, 2 milliseconds from now
-- Returns: 1 if it was kept.
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
