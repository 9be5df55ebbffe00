// An archive as work leaves it: spread over days or an hour, of many types, queues and tenants, with some jobs that were
// cancelled or died. Ids grow with time, as they do in life.
import type pg from 'pg'
import { Database } from '../../packages/engine/dist/store/db.js'
import { ensurePartitions } from '../../packages/engine/dist/store/partitions.js'

const DAY_MS = 86_400_000
const CHUNK = 250_000

export interface ArchiveShape {
  readonly rows: number
  readonly days: number
  readonly types: number
  readonly queues: number
  readonly tenants: number
  /** Each job has a correlation id of its own, instead of being one of its own correlation. */
  readonly isCorrelated?: boolean
}

/** A few tenants have most of the jobs: the first of 5,000 has 6 %, the hundredth 0.1 %, the last 0.007 %. A tenth has none. */
export const TENANT = (seed: string, tenants: string): string =>
  `case when ${seed} % 10 > 0 then 'tenant_' || floor(${tenants} * power((hashint8(${seed})::bigint + 2147483648) / 4294967296.0, 3))::int end`

/** Of a thousand jobs 994 completed, 5 were cancelled and 1 died. */
const archived = `
insert into millrace.job_archive (
  id, status, type, queue, tenant, priority, attempt, max_attempts, crashes, payload_version, run_at, created_at,
  started_at, finished_at, run_id, worker_id, retention, correlation_id, last_error, payload
)
select
  nextval('millrace.job_id_seq'),
  case when n % 1000 = 7 then 'dead' when n % 1000 between 20 and 24 then 'cancelled' else 'completed' end,
  'type_' || n % $5::int, 'queue_' || n % $5::int % $6::int, ${TENANT('n', '$7::int')}, 5, 1, 5, 0, 1, ended_at, ended_at,
  ended_at, ended_at, gen_random_uuid(), gen_random_uuid(), 'standard', case when $8 then gen_random_uuid()::text end,
  case when n % 1000 = 7 then 'read timeout after 5 s' end,
  jsonb_build_object('n', n, 'user', jsonb_build_object('id', n % 100000), 'text', 'as long as a small payload is')
from generate_series($1::bigint, $2::bigint) as n
cross join lateral (select now() - interval '1 minute' - ($3::bigint - n) * $4::float8 * interval '1 millisecond' as ended_at) as times`

export async function fillArchive(
  { pool, databaseUrl }: { pool: pg.Pool; databaseUrl: string },
  { rows, days, types, queues, tenants, isCorrelated = false }: ArchiveShape,
  step: (message: string) => void,
): Promise<void> {
  const db = new Database({ connection: { connectionString: databaseUrl }, schema: 'millrace', maxConnections: 1 })
  const now = Date.now()
  for (let at = now - days * DAY_MS; at < now; at += DAY_MS) await ensurePartitions(db, new Date(at))
  await ensurePartitions(db, new Date(now))
  await db.close()
  const msPerJob = (days * DAY_MS) / Math.max(rows, 1)
  for (let done = 0; done < rows; done += CHUNK) {
    step(`filling: ${done.toLocaleString('en')} of ${rows.toLocaleString('en')} archived`)
    const span = [done + 1, Math.min(done + CHUNK, rows), rows, msPerJob]
    await pool.query(archived, [...span, types, queues, tenants, isCorrelated])
  }
}
