-- What of the ground to migrate on exists. Asked first, because `create schema if not exists` demands the right to
-- create schemas even where there is nothing to create.
-- Params:  $1 schema text
-- Returns: has_schema, has_tables
-- Locks:   none
-- Index:   catalogues
select
  exists (select from pg_namespace where nspname = $1) as has_schema,
  (select count(*) = 2
   from pg_class
   join pg_namespace on pg_namespace.oid = pg_class.relnamespace
   where nspname = $1 and relname in ('migration', 'migration_lock')) as has_tables;
