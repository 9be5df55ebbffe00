-- Is this session still in the transaction that tenant_enter.sql opened for a tenant, and under its role?
-- Params:  $1 tenant_setting text, $2 tenant text, $3 transaction_setting text, $4 transaction text, $5 role text
-- Returns: is_inside
-- Locks:   none
-- Index:   none
select
  current_setting($1, true) is not distinct from $2
  and current_setting($3, true) is not distinct from $4
  and current_setting('role') = $5 as is_inside;
