-- Why jobs of a bulk operation were not changed, the most frequent first.
-- Params:  $1 id bigint
-- Returns: outcome, reason, count
-- Locks:   none
-- Index:   bulk_item_pkey
select outcome, reason, count(*)::int as count
from millrace.bulk_item
where operation_id = $1 and outcome <> 'changed'
group by outcome, reason
order by count(*) desc, reason
limit 50;
