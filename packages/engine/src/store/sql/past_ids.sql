-- Reserve ids for jobs that are inserted with an id of their own.
-- Params:  $1 count int
-- Returns: one row: first, the first of them; the others follow without a gap.
-- Locks:   the sequence's own, for a moment. Jobs that are enqueued at the same moment get ids before or behind.
-- Index:   none
select setval('millrace.job_id_seq', nextval('millrace.job_id_seq') + $1::bigint) - $1::bigint as first;
