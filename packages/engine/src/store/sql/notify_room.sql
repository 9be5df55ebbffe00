-- Is there room for notifications? With less room than this notify.sql sends none.
-- Params:  none
-- Returns: one row: has_room
-- Locks:   the server's notification queue, for a moment.
-- Index:   none
select pg_notification_queue_usage() < 0.5 as has_room;
