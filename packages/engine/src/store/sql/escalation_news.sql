-- Faults of a channel that were acknowledged, or are gone, since it was told of them.
-- Params:  $1 channel text, $2 limit int
-- Returns: the last row of each key, with how many there are; becomes is acknowledged or resolved.
-- Locks:   none
-- Index:   escalation_untold_idx, escalation_open_idx
with untold as (
  select distinct key
  from millrace.escalation
  where channel = $1
    and sent_at is not null
    and told is distinct from 'resolved'
    and (resolved_at is not null or acknowledged_at is not null)
    and (resolved_at is not null or told is null)
  order by key
  limit $2
),
standing as (
  select untold.key, exists (
    select from millrace.escalation as open
    where open.key = untold.key and open.resolved_at is null and open.channel = $1
  ) as is_open
  from untold
)
select distinct on (standing.key) escalation.*,
  case when standing.is_open then 'acknowledged' else 'resolved' end as becomes,
  count(*) over (partition by standing.key)::int as count
from standing
join millrace.escalation on escalation.key = standing.key
where escalation.channel = $1
  and escalation.sent_at is not null
  and escalation.told is distinct from 'resolved'
  and (escalation.resolved_at is not null or escalation.acknowledged_at is not null)
  and (not standing.is_open or (escalation.acknowledged_at is not null and escalation.told is null))
order by standing.key, escalation.id desc;
