-- Events that other clients have raised of late.
-- Params:  $1 since_ms: how far back, $2 origin uuid of the client that asks
-- Returns: id, event, facts, in the order in which they were raised
-- Locks:   none
-- Index:   notice_for_list_idx
select id, event, facts
from millrace.notice
where raised_at > now() - make_interval(secs => $1::float8 / 1000)
  and origin <> $2::uuid
order by id;
