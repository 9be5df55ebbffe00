-- The silences that hold.
-- Params:  $1 now timestamptz or null
-- Returns: name, subject (null: every one), reason, by, created_at, until
-- Locks:   none
-- Index:   none: there are few.
select name, subject, reason, author as by, created_at, until
from millrace.alert_silence
where until > coalesce($1, now())
order by name, subject;
