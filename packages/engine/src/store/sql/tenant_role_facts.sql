-- What start-up must know of the role under which handlers see a tenant's rows.
-- Params:  $1 role text
-- Returns: login and, as long as the role exists, is_superuser, bypasses_rls, is_login, owned_table (one that it owns
--          itself or through a role whose rights it has) and engine_table (one of ours that it may touch).
-- Locks:   none
-- Index:   pg_authid_rolname_index
select
  session_user::text as login,
  role.rolname is not null as exists,
  role.rolsuper as is_superuser,
  role.rolbypassrls as bypasses_rls,
  role.rolname = session_user as is_login,
  (
    select owned.oid::regclass::text
    from pg_class as owned
    where owned.relkind in ('r', 'p')
      and owned.relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
      and pg_has_role(role.oid, owned.relowner, 'usage')
    limit 1
  ) as owned_table,
  (
    select engine.oid::regclass::text
    from pg_class as engine
    where engine.relnamespace = (select relnamespace from pg_class where oid = 'millrace.job'::regclass)
      and engine.relkind in ('r', 'p', 'v')
      and has_schema_privilege(role.oid, engine.relnamespace, 'usage')
      and has_table_privilege(role.oid, engine.oid, 'select, insert, update, delete')
    limit 1
  ) as engine_table
from (values ($1::name)) as named (rolname)
left join pg_roles as role using (rolname);
