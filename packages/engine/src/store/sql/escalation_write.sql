-- Put a fault into the outbox: one row for each policy of its queues, or one without policy. Nothing if nobody delivers
-- and no queue of it has a policy, or if it is open already.
-- Params:  $1 now timestamptz or null, $2 kind text, $3 key text, $4 severity text, $5 summary text, $6 queues text[],
--          $7 to_owner bool, $8 details jsonb, $9 deliver_type text: the job type that delivers
-- Returns: the ids of the new rows.
-- Locks:   those rows.
-- Index:   catalogue_entry_pkey, escalation_open_alert_idx
with declared as (
  select name as queue, document -> 'escalation' as policy
  from millrace.catalogue_entry
  where kind = 'queue' and name = any($6::text[])
),
routes as (
  select distinct on (policy) queue, policy
  from declared
  where not $7 and jsonb_typeof(policy) in ('string', 'object')
  order by policy, queue
),
wanted as (
  select queue, policy from routes
  union all
  select ($6::text[])[1], null
  where not exists (select from routes)
    and exists (select from millrace.catalogue_entry where kind = 'type' and name = $9)
)
insert into millrace.escalation (kind, key, severity, summary, queue, to_owner, details, policy, created_at)
select $2, $3, $4, $5, queue, $7, $8::jsonb, policy, coalesce($1, now())
from wanted
on conflict do nothing
returning id;
