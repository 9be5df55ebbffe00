-- Limits that were set at run time.
-- Params:  none
-- Returns: name, running, rate_jobs, rate_ms, updated_at, updated_by
-- Locks:   none
select name, running, rate_jobs, rate_ms::float8 as rate_ms, updated_at, updated_by
from millrace.limit_setting
order by name;
