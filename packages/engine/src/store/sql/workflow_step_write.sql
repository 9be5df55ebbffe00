-- Write down what was decided about steps. Whoever does it has locked their workflow, and none of them has a running job.
-- Params:  $1 workflow_id bigint, $2 positions int[], in order and none twice; of each: $3 statuses text[], $4 undos text[],
--          $5 completed_as int[], $6 items int[], $7 items_left int[], $8 items_failed int[], $9 items_cancelled int[],
--          $10 undo_left int[], $11 undo_failed int[], $12 reasons text[]
-- Returns: nothing
-- Locks:   those steps
-- Index:   workflow_step_pkey
-- width_bucket is a step's place among the positions, as in job_finish.sql: a join with unnest compared every step with
-- every other by a plan that is kept.
update millrace.workflow_step
set status = ($3::text[])[width_bucket(position, $2)], undo = ($4::text[])[width_bucket(position, $2)],
    completed_as = ($5::int[])[width_bucket(position, $2)], items = ($6::int[])[width_bucket(position, $2)],
    items_left = ($7::int[])[width_bucket(position, $2)], items_failed = ($8::int[])[width_bucket(position, $2)],
    items_cancelled = ($9::int[])[width_bucket(position, $2)], undo_left = ($10::int[])[width_bucket(position, $2)],
    undo_failed = ($11::int[])[width_bucket(position, $2)], reason = ($12::text[])[width_bucket(position, $2)],
    needs_advance = false
where workflow_id = $1
  and position = any($2::int[]);
