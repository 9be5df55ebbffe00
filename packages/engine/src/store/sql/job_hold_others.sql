-- Hold every other waiting job of a queue, so that a claim passes over them: how a test has one certain job claimed by
-- the same statement that workers use. For millrace/testing only.
-- Params:  $1 queue text, $2 id bigint of the job that stays free
-- Returns: nothing of interest.
-- Locks:   those job rows, until the transaction ends.
-- Index:   job_for_claim_idx; the tables of tests are small.
select id
from millrace.job
where queue = $1
  and status = 'pending'
  and id <> $2
order by id
for no key update;
