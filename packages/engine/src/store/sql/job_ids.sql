-- Take ids for jobs that are to be inserted in another order than the one they are to run in.
-- Params:  $1 count int
-- Returns: the ids, in order.
-- Locks:   none
-- Index:   none
select nextval('millrace.job_id_seq') as id
from generate_series(1, $1::int);
