-- How the server is doing, and who answers on this connection.
-- Params:  none
-- Returns: one row: now, pid, version, connections, max_connections, is_autovacuum_on, notify_queue_usage
-- Locks:   none
-- Index:   none: server state
select clock_timestamp() as now, pg_backend_pid() as pid, split_part(current_setting('server_version'), ' ', 1) as version,
  (select count(*)::int from pg_stat_activity where backend_type = 'client backend' or backend_type is null) as connections,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as max_connections,
  current_setting('autovacuum')::boolean as is_autovacuum_on,
  pg_notification_queue_usage() as notify_queue_usage;
