// An archive as a week of work leaves it: spread over the days, of fifty types in ten queues, with some that were cancelled
// or died. Ids grow with time, as they do in life.
import type pg from 'pg'
import { Database } from '../../packages/engine/dist/store/db.js'
import { ensurePartitions } from '../../packages/engine/dist/store/partitions.js'

const DAYS = 6
const DAY_MS = 86_400_000
const CHUNK = 250_000

/** Of a thousand jobs 994 completed, 5 were cancelled and 1 died. */
const archived = `
insert into millrace.job_archive (
  id, status, type, queue, tenant, priority, attempt, max_attempts, crashes, payload_version, run_at, created_at,
  started_at, finished_at, run_id, worker_id, retention, correlation_id, last_error, payload
)
select
  nextval('millrace.job_id_seq'),
  case when n % 1000 = 7 then 'dead' when n % 1000 between 20 and 24 then 'cancelled' else 'completed' end,
  'type_' || n % 50, 'queue_' || n % 10, case when n % 100 < 30 then 'tenant_' || n % 1000 end, 5, 1, 5, 0, 1, ended_at, ended_at,
  ended_at, ended_at, gen_random_uuid(), gen_random_uuid(), 'standard', null,
  case when n % 1000 = 7 then 'read timeout after 5 s' end,
  jsonb_build_object('n', n, 'user', jsonb_build_object('id', n % 100000), 'text', 'as long as a small payload is')
from generate_series($1::bigint, $2::bigint) as n
cross join lateral (select now() - interval '1 minute' - ($3::bigint - n) * $4::float8 * interval '1 millisecond' as ended_at) as times`

export async function fillArchive(
  { pool, databaseUrl }: { pool: pg.Pool; databaseUrl: string },
  rows: number,
  step: (message: string) => void,
): Promise<void> {
  const db = new Database({ connection: { connectionString: databaseUrl }, schema: 'millrace', maxConnections: 1 })
  for (let day = DAYS; day >= 0; day--) await ensurePartitions(db, new Date(Date.now() - day * DAY_MS))
  await db.close()
  for (let done = 0; done < rows; done += CHUNK) {
    step(`filling: ${done.toLocaleString('en')} of ${rows.toLocaleString('en')} archived`)
    await pool.query(archived, [done + 1, Math.min(done + CHUNK, rows), rows, (DAYS * DAY_MS) / rows])
  }
  step('vacuuming the archive')
  await pool.query('vacuum analyze millrace.job_archive')
}
