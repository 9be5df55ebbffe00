-- Tables with a tenant's column, and how row security stands with them. A partition counts if it can be reached past its
-- parent: somebody besides its owner has rights on it.
-- Params:  $1 schema name, $2 column name, $3 setting text, which a policy must look at, $4 roles name[] that may see all
-- Returns: table, is_enabled, is_forced, has_policy, loopholes (permissive policies that do not look at the setting, unless
--          a restrictive one for every command does, or they are for those roles only).
-- Locks:   none
-- Index:   pg_class_relname_nsp_index, pg_policy_polrelid_polname_index
select
  rel.relname::text as table,
  rel.relrowsecurity as is_enabled,
  rel.relforcerowsecurity as is_forced,
  coalesce(bool_or(policy.looks), false) as has_policy,
  coalesce(
    jsonb_agg(policy.polname order by policy.polname) filter (
      where policy.polpermissive
        and not policy.looks
        and not policy.is_for_system
        and not exists (
          select from pg_policy as bound
          where bound.polrelid = rel.oid
            and not bound.polpermissive
            and bound.polcmd = '*'
            and strpos(pg_get_expr(bound.polqual, bound.polrelid), $3) > 0
            and strpos(coalesce(pg_get_expr(bound.polwithcheck, bound.polrelid), $3), $3) > 0
        )
    ),
    '[]'
  ) as loopholes
from pg_class as rel
join pg_attribute as col on col.attrelid = rel.oid and col.attname = $2 and not col.attisdropped
left join lateral (
  select
    polname, polpermissive, polcmd,
    polroles <@ array(select oid from pg_roles where rolname = any($4::name[])) as is_for_system,
    strpos(coalesce(pg_get_expr(polqual, polrelid), $3), $3) > 0
      and strpos(coalesce(pg_get_expr(polwithcheck, polrelid), $3), $3) > 0 as looks
  from pg_policy
  where polrelid = rel.oid
) as policy on true
where rel.relnamespace = (select oid from pg_namespace where nspname = $1)
  and rel.relkind in ('r', 'p')
  and (
    not rel.relispartition
    or exists (select from aclexplode(rel.relacl) as granted
      where granted.grantee <> rel.relowner
        and granted.grantee <> all(array(select oid from pg_roles where rolname = any($4::name[]))))
  )
group by rel.oid
order by rel.relname;
