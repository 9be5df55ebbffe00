-- For which tenant a deferred job waits.
-- Params:  $1 id bigint
-- Returns: queue, tenant, places: how many jobs it may have there, is_free: it has fewer. No row: the job is not deferred.
-- Locks:   none
-- Index:   job_pkey, those of parts/tenant_room.sql
select wanted.queue, wanted.tenant, allowed.places, room.free > 0 as is_free
from (
  select queue, tenant from millrace.job
  where id = $1 and status = 'blocked' and deferred_keys is not null
) as wanted
-- part: tenant_room
;
