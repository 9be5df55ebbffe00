-- The pauses that hold now, oldest first. A target has one for each author who paused it.
-- Params:  $1 now timestamptz or null
-- Returns: the pauses.
-- Locks:   none
select queue, type, tenant, reason, author as by, created_at, expires_at
from millrace.pause
where expires_at is null or expires_at > coalesce($1, now())
order by id;
