-- Give back what a run had reserved and did not spend: one reservation, or all that is left of a run that has ended.
-- Params:  $1 job_id bigint, $2 run_id uuid, $3 id uuid, or null for all, with the notes of what was spent
-- Returns: nothing.
-- Locks:   those reservation rows.
-- Index:   budget_reservation_pkey
delete from millrace.budget_reservation
where job_id = $1
  and run_id = $2
  and ($3::uuid is null or (id = $3 and spent_at is null));
