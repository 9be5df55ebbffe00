-- Give a lock back, if it is still the owner's.
-- Keys:    1 the lock
-- Args:    1 owner
-- Returns: 1 if it was given back.
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
