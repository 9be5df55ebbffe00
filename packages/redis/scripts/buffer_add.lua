-- Take an entry into the stream of its tenant, unless the buffer is full.
-- Keys:    1 the tenant's stream, 2 the sorted set of tenants whose turn comes, 3 the number of entries
-- Args:    1 tenant, 2 bound of all entries, 3 bound of a tenant, 4 the entry
-- Returns: the id in the stream, or 'full' or 'tenant full'.
local all = tonumber(redis.call('GET', KEYS[3]) or '0')
if all >= tonumber(ARGV[2]) then return 'full' end
if redis.call('XLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 'tenant full' end
local id = redis.call('XADD', KEYS[1], '*', 'e', ARGV[4])
redis.call('INCR', KEYS[3])
redis.call('ZADD', KEYS[2], 'NX', 0, ARGV[1])
return id
