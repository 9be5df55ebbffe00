-- Leave a limit to the code again.
-- Params:  $1 name text
-- Returns: its name, if it was set.
-- Locks:   its row.
delete from millrace.limit_setting
where name = $1
returning name;
