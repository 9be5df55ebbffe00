-- Escalations, newest first.
-- Params:  $1 limit int; each of these or null: $2 state text: open, undelivered, overdue or resolved; $3 queue, $4 channel,
--          $5 key, $6 before: the id of one, $7 ids bigint[]
-- Returns: the rows.
-- Locks:   none
-- Index:   escalation_pkey; by state escalation_unresolved_idx or escalation_waiting_idx
select *, resolved_at is null and acknowledged_at is null and coalesce(respond_by < now(), false) as is_overdue
from millrace.escalation
where ($2::text is null or case $2
    when 'open' then resolved_at is null
    when 'undelivered' then sent_at is null
    when 'overdue' then resolved_at is null and acknowledged_at is null and respond_by < now()
    else resolved_at is not null end)
  and ($3::text is null or queue = $3)
  and ($4::text is null or channel = $4)
  and ($5::text is null or key = $5)
  and ($6::bigint is null or id < $6)
  and ($7::bigint[] is null or id = any($7))
order by id desc
limit $1;
