-- Move a tick that pages through tenants on behind a page. Whoever comes second finds it moved.
-- Params:  $1 id, $2 cursor before text or null, $3 cursor after text
-- Returns: id; no row: somebody else did this page.
-- Locks:   the tick's row, until the transaction ends, or has been idle for two seconds
-- Index:   schedule_tick_pkey
update millrace.schedule_tick
set tenant_cursor = $3
from (select set_config('idle_in_transaction_session_timeout', '2s', true)) as patience
where id = $1
  and outcome = 'running'
  and tenant_cursor is not distinct from $2
returning id;
