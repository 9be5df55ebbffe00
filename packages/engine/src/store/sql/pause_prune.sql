-- Forget pauses that ended a day ago.
-- Params:  $1 now timestamptz or null
-- Returns: nothing.
-- Locks:   those rows.
delete from millrace.pause
where expires_at < coalesce($1, now()) - interval '1 day';
