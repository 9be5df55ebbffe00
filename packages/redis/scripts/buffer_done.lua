-- Forget entries that are in PostgreSQL now, and send their tenant to the end of the row.
-- Keys:    1 the tenant's stream, 2 the sorted set of tenants whose turn comes, 3 the number of entries
-- Args:    1 tenant, 2 its new place in the row, 3… ids in the stream
-- Returns: how many entries the tenant has left.
local removed = 0
for i = 3, #ARGV do removed = removed + redis.call('XDEL', KEYS[1], ARGV[i]) end
if removed > 0 and redis.call('DECRBY', KEYS[3], removed) < 0 then redis.call('SET', KEYS[3], 0) end
local length = redis.call('XLEN', KEYS[1])
if length == 0 then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
else
  redis.call('ZADD', KEYS[2], 'XX', ARGV[2], ARGV[1])
end
return length
