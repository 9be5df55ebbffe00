-- Make a waiting job wait for something other than time: its order key after it was failed by hand; or for millrace/testing.
-- Params:  $1 id bigint
-- Returns: nothing
-- Locks:   that job row
-- Index:   job_pkey
update millrace.job
set status = 'blocked'
where id = $1
  and status = 'pending';
