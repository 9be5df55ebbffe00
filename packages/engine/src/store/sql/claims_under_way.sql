-- Are claims under way that began before a moment, so that they may not have seen what was committed until then?
-- Params:  $1 since timestamptz, or null for now
-- Returns: one row: since, claims
-- Locks:   none
-- What other roles run cannot be read, and is not counted.
select
  coalesce($1, clock_timestamp()) as since,
  (select count(*)::int from pg_stat_activity
   where datname = current_database() and pid <> pg_backend_pid() and state = 'active'
     and query_start <= coalesce($1, clock_timestamp())
     and (query like '%for no key update skip locked%' or query like '%execute millrace\_%')) as claims;
