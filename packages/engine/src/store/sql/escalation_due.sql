-- Channels for which something waits: escalations to send, or news about some that were sent.
-- Params:  $1 now timestamptz or null
-- Returns: channel, has_unsent, has_news.
-- Locks:   none
-- Index:   escalation_due_idx, walked from channel to channel; escalation_untold_idx
with recursive channels as (
  (
    select channel
    from millrace.escalation
    where sent_at is null and undeliverable_at is null and channel is not null
    order by channel
    limit 1
  )
  union all
  select (
    select channel
    from millrace.escalation
    where sent_at is null and undeliverable_at is null and channel is not null and channel > channels.channel
    order by channel
    limit 1
  )
  from channels
  where channels.channel is not null
),
unsent as (
  select channel
  from channels
  where exists (
    select from millrace.escalation
    where escalation.channel = channels.channel
      and sent_at is null
      and undeliverable_at is null
      and coalesce(due_at, '-infinity') <= coalesce($1, now())
  )
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
