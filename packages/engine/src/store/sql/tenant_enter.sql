-- Go under a tenant's role, with its settings, until the transaction ends.
-- Params:  $1 tenant_setting text, $2 tenant text, $3 user_setting text, $4 acting_user text, $5 role text,
--          $6 transaction_setting text, $7 transaction text, by which tenant_check.sql knows it again
-- Returns: own_role, which this session had before.
-- Locks:   none
-- Index:   none
with before as materialized (
  select current_setting('role') as role
)
select
  before.role as own_role,
  set_config($1, $2, true) as tenant,
  set_config($3, $4, true) as acting_user,
  set_config($6, $7, true) as transaction,
  set_config('role', $5, true) as role
from before;
