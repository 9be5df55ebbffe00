-- Forget the reservations of runs that ended without saying so. They have not counted since.
-- Params:  $1 limit int
-- Returns: one row per reservation that is gone.
-- Locks:   those reservation rows; passes over those that somebody else holds.
-- Index:   budget_reservation_pkey, job_pkey
with dead as (
  select job_id, run_id, id
  from millrace.budget_reservation as reservation
  where (
    select status from millrace.job where job.id = reservation.job_id and job.run_id = reservation.run_id
  ) is distinct from 'processing'
  limit $1
  for update skip locked
)
delete from millrace.budget_reservation as reservation
using dead
where reservation.job_id = dead.job_id
  and reservation.run_id = dead.run_id
  and reservation.id = dead.id
returning reservation.id;
