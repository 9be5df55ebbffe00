-- End the pauses of a target: those of one author, or those of every author.
-- Params:  $1 now timestamptz or null, $2 queue text, $3 type text, $4 tenant text, $5 author text or null for every author
-- Returns: the pauses that it ended, oldest first. One that was over already is left to pause_prune.sql.
-- Locks:   their rows.
-- Index:   pause_is_one_per_author
with ended as (
  delete from millrace.pause
  where queue is not distinct from $2
    and type is not distinct from $3
    and tenant is not distinct from $4
    and ($5::text is null or author = $5)
    and (expires_at is null or expires_at > coalesce($1, now()))
  returning id, queue, type, tenant, reason, author as by, created_at, expires_at
)
select queue, type, tenant, reason, by, created_at, expires_at
from ended
order by id;
