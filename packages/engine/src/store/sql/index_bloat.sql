-- How large the indexes of a table are, and how large each would be at most if it were built now.
-- Params:  $1 table text, $2 live_rows float8: none of the indexes holds more entries
-- Returns: one row per index. is_leftover: what a concurrent rebuild that was cut off has left behind.
-- Locks:   none
-- Index:   those of the catalogue
-- An entry is its columns, as wide as the statistics say (text that was never analysed: 64 bytes), and 20 bytes around
-- them; the pages of a fresh index are nine tenths full.
select index_class.relname as name,
  pg_relation_size(index_class.oid)::float8 as bytes,
  (16384 + $2::float8 * (20 + (
    select sum(case when attlen > 0 then attlen else coalesce(avg_width, 64) end)
    from pg_attribute
    left join pg_stats
      on pg_stats.schemaname = (select nspname from pg_namespace where oid = table_class.relnamespace)
      and pg_stats.tablename = table_class.relname
      and pg_stats.attname = pg_attribute.attname
    where attrelid = table_class.oid and attnum = any(indkey)
  )) / 0.9)::float8 as needed_bytes,
  not indisvalid and index_class.relname ~ '_cc(new|old)\d*$' as is_leftover
from pg_index
join pg_class as index_class on index_class.oid = indexrelid
join pg_class as table_class on table_class.oid = indrelid
where indrelid = ('millrace.' || quote_ident($1))::regclass
order by index_class.relname;
