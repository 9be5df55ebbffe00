-- What start-up must know of the server it was given.
-- Params:  none
-- Returns: version_num, isolation, in_recovery, read_only
-- Locks:   none
-- Index:   none
select
  current_setting('server_version_num')::int as version_num,
  current_setting('default_transaction_isolation') as isolation,
  current_setting('transaction_read_only') as read_only,
  pg_is_in_recovery() as in_recovery;
