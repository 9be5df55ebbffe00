-- Dead letters that wait for a decision, by queue and type.
-- Params:  none
-- Returns: queue, type, dead
-- Locks:   none
-- Index:   dead_letter_by_status_idx
select queue, type, count(*)::int as dead
from millrace.dead_letter_jobs
where status = 'pending'
group by queue, type;
