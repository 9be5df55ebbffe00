-- How large our tables are, how many dead rows they hold, and when they were last cleaned.
-- Params:  none
-- Returns: one row per table that is not a partition: those are only added to, and dropped whole.
-- Locks:   none
-- Index:   those of the catalogue. Costs as much as a look at the sizes of some files.
-- The larger count of live rows is believed: the counters begin anew after a crash, the catalogue knows the last vacuum.
select relname as name,
  greatest(pg_stat_get_live_tuples(oid), reltuples)::float8 as live_rows,
  pg_stat_get_dead_tuples(oid)::float8 as dead_rows,
  pg_relation_size(oid)::float8 as bytes,
  pg_indexes_size(oid)::float8 as index_bytes,
  (pg_stat_get_tuples_inserted(oid) + pg_stat_get_tuples_updated(oid) + pg_stat_get_tuples_deleted(oid))::float8 as writes,
  extract(epoch from clock_timestamp()
    - greatest(pg_stat_get_last_vacuum_time(oid), pg_stat_get_last_autovacuum_time(oid)))::float8 * 1000 as vacuumed_ms_ago,
  pg_has_role(relowner, 'USAGE')
    or pg_has_role((select datdba from pg_database where datname = current_database()), 'USAGE')
    or case when current_setting('server_version_num')::int >= 170000 then has_table_privilege(oid, 'MAINTAIN') else false end
    as may_repair
from pg_class
where relnamespace = (select relnamespace from pg_class where oid = 'millrace.job'::regclass)
  and relkind = 'r'
  and not relispartition
order by relname;
