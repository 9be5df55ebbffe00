-- Forget all entries of a tenant.
-- Keys:    1 the tenant's stream, 2 the sorted set of tenants whose turn comes, 3 the number of entries
-- Args:    1 tenant
-- Returns: how many entries there were.
local length = redis.call('XLEN', KEYS[1])
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if length > 0 and redis.call('DECRBY', KEYS[3], length) < 0 then redis.call('SET', KEYS[3], 0) end
return length
