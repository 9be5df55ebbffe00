-- Channels for which something waits: escalations to send, or news about some that were sent.
-- Params:  $1 now timestamptz or null
-- Returns: channel, has_unsent, has_news.
-- Locks:   none
-- Index:   escalation_unsent_idx, escalation_untold_idx
with unsent as (
  select distinct channel
  from millrace.escalation
  where sent_at is null and undeliverable_at is null and channel is not null
    and coalesce(due_at <= coalesce($1, now()), true)
),
untold as (
  select distinct channel
  from millrace.escalation
  where sent_at is not null
    and told is distinct from 'resolved'
    and (resolved_at is not null or acknowledged_at is not null)
    and (resolved_at is not null or told is null)
)
select coalesce(unsent.channel, untold.channel) as channel, unsent.channel is not null as has_unsent,
  untold.channel is not null as has_news
from unsent
full join untold on untold.channel = unsent.channel
order by 1;
