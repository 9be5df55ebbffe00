-- Tables and indexes that should be there and are not, and indexes whose building was cut off.
-- Params:  $1 tables text[], $2 indexes text[]: the names that the migrations create
-- Returns: one row: missing_tables, missing_indexes, invalid_indexes: jsonb arrays of names
-- Locks:   none
-- Index:   pg_class_relname_nsp_index, pg_index_indrelid_index
-- An index of a partitioned table counts as invalid while a partition goes without, which is no fault.
with found as (
  select oid, relname, relkind
  from pg_class
  where relnamespace = (select relnamespace from pg_class where oid = 'millrace.job'::regclass)
)
select
  to_jsonb(array(
    select name from unnest($1::text[]) as name where name not in (select relname from found where relkind in ('r', 'p')) order by name
  )) as missing_tables,
  to_jsonb(array(
    select name from unnest($2::text[]) as name where name not in (select relname from found where relkind in ('i', 'I')) order by name
  )) as missing_indexes,
  to_jsonb(array(
    select relname from found join pg_index on indexrelid = found.oid
    where relkind = 'i' and not indisvalid and relname !~ '_ccnew\d*$' order by relname
  )) as invalid_indexes;
