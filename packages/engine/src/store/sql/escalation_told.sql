-- A channel was told what became of faults.
-- Params:  $1 channel text, $2 keys text[], $3 becomes text[]: acknowledged or resolved
-- Returns: nothing.
-- Locks:   those rows.
-- Index:   escalation_untold_idx
update millrace.escalation
set told = news.becomes
from unnest($2::text[], $3::text[]) as news (key, becomes)
where escalation.channel = $1
  and escalation.key = news.key
  and escalation.sent_at is not null
  and escalation.told is distinct from 'resolved'
  and case news.becomes when 'resolved' then escalation.resolved_at is not null
    else escalation.acknowledged_at is not null and escalation.told is null end;
