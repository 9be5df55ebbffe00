-- Views, materialised views and foreign tables that show rows of tenants past the row security of tables: they have the tenant's
-- column, or read a table that has it. One that only its owner may use shows nothing to others.
-- Params:  $1 schema name, $2 column name, $3 roles name[] that may see all
-- Returns: name, with its schema if that is another one; kind: 'view', 'materialised view' or 'foreign table'
-- Locks:   none
-- Index:   pg_class_relname_nsp_index, pg_depend_reference_index, pg_rewrite_oid_index
-- A view with security_invoker reads its tables with the rights of the caller, so their policies hold.
with recursive shows (oid) as (
  select rel.oid
  from pg_class as rel
  join pg_attribute as col on col.attrelid = rel.oid and col.attname = $2 and not col.attisdropped
  where rel.relnamespace = (select oid from pg_namespace where nspname = $1)
    and rel.relkind in ('r', 'p', 'v', 'm', 'f')
  union
  select rule.ev_class
  from shows
  join pg_depend as uses
    on uses.refclassid = 'pg_class'::regclass and uses.refobjid = shows.oid and uses.classid = 'pg_rewrite'::regclass
  join pg_rewrite as rule on rule.oid = uses.objid
)
select
  case when space.nspname = $1 then rel.relname::text else space.nspname || '.' || rel.relname end as name,
  case rel.relkind when 'v' then 'view' when 'm' then 'materialised view' else 'foreign table' end as kind
from shows
join pg_class as rel using (oid)
join pg_namespace as space on space.oid = rel.relnamespace
where rel.relkind in ('v', 'm', 'f')
  and not exists (
    select from pg_options_to_table(rel.reloptions)
    where rel.relkind = 'v' and option_name = 'security_invoker' and option_value::boolean
  )
  and exists (
    select from aclexplode(rel.relacl) as granted
    where granted.grantee <> rel.relowner
      and granted.grantee <> all(array(select oid from pg_roles where rolname = any($3::name[])))
  )
order by name;
