-- Give escalations their channel.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], $3 channels text[], $4 respond_by timestamptz[],
--          $5 due_at timestamptz[], $6 problems text[]: why one cannot be delivered, or null
-- Returns: nothing.
-- Locks:   those rows. One that another process has routed stays as it is.
-- Index:   escalation_pkey
update millrace.escalation
set channel = routed.channel, respond_by = routed.respond_by, due_at = routed.due_at, last_error = routed.problem,
  undeliverable_at = case when routed.problem is not null then coalesce($1, now()) end
from unnest($2::bigint[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::text[])
  as routed (id, channel, respond_by, due_at, problem)
where escalation.id = routed.id
  and escalation.channel is null;
