-- Tell listening workers something: which queues have new work, or whom to reconcile. Says nothing while the server's
-- notification queue is half full: a full one would fail the commit, and polling finds the same.
-- Params:  $1 channel text, $2 payloads text[]
-- Returns: nothing of use
-- Locks:   the server's notification queue, at commit: which is why callers debounce.
-- Index:   none
select pg_notify($1, payload)
from unnest($2::text[]) as payload
where (select pg_notification_queue_usage()) < 0.5;
