-- Escalations that no deliverer has looked at, with the owner of their queue.
-- Params:  $1 limit int
-- Returns: what decides about their channel.
-- Locks:   none
-- Index:   escalation_unrouted_idx, catalogue_entry_pkey
select escalation.id, escalation.kind, escalation.queue, escalation.policy, escalation.to_owner, escalation.details,
  escalation.created_at,
  nullif(declared.document -> 'owner', 'null') as owner
from millrace.escalation
left join millrace.catalogue_entry as declared on declared.kind = 'queue' and declared.name = escalation.queue
where escalation.channel is null
order by escalation.id
limit $1;
