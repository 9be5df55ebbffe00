// Tables as a busy installation has them: a million jobs that could run, a million that wait for their time, five
// million that are done. And what the planner believes about them.

import { statfs } from 'node:fs/promises'
import type pg from 'pg'
import { Database } from '../../packages/engine/dist/store/db.js'
import { ensurePartitions } from '../../packages/engine/dist/store/partitions.js'
import { fillArchive } from './archive-of-days.ts'
import { CannotMeasure } from './suite.ts'
import { queues, trivial } from './trivial-jobs.ts'

const READY = 1_000_000
const SCHEDULED = 1_000_000
const ARCHIVED = 5_000_000
const CHUNK = 250_000
/** What seven million jobs, their indexes and the log of writing them may take. */
const ROOM_BYTES = 15 * 2 ** 30

/** Behind what is drained: less urgent in the same queue, or in one of nine others. */
const ready = `
insert into millrace.job
  (type, queue, priority, max_attempts, run_at, created_at, updated_at, correlation_id, payload)
select
  case n % 2 when 0 then $2 else 'other' end,
  case n % 2 when 0 then $3 else 'other_' || n % 9 end,
  case n % 2 when 0 then $4::int + 4 else $4::int end,
  5, now(), now(), now(), gen_random_uuid(), '{"n": 0}'
from generate_series(1, $1) as n`

/** In the way of what is drained: the same queue, just as urgent or more so, but not due for a day. */
const scheduled = `
insert into millrace.job
  (type, queue, priority, max_attempts, run_at, created_at, updated_at, correlation_id, payload)
select
  $2, $3, case n % 2 when 0 then $4::int else 0 end,
  5, now() + interval '1 day' + n * interval '1 second', now(), now(), gen_random_uuid(), '{"n": 0}'
from generate_series(1, $1) as n`

/** Of the last 80 minutes, so nearly all in the partition that is written to. */
const archive = { days: 1 / 18, types: 50, queues: 10, tenants: 1_000, isCorrelated: true }

export async function fillDeep(
  { pool, databaseUrl }: { pool: pg.Pool; databaseUrl: string },
  scale: number,
  step: (message: string) => void,
): Promise<void> {
  await demandRoom(pool, scale)
  const fillWith = async (what: string, statement: string, rows: number) => {
    for (let done = 0; done < rows; done += CHUNK) {
      step(`filling: ${done.toLocaleString('en')} of ${rows.toLocaleString('en')} ${what}`)
      const values = [Math.min(CHUNK, rows - done), trivial.type, queues.bench.name, queues.bench.priority]
      await pool.query(statement, values)
    }
  }
  const live = async () => {
    await fillWith('ready', ready, Math.round(READY * scale))
    await fillWith('scheduled', scheduled, Math.round(SCHEDULED * scale))
  }
  await Promise.all([
    live(),
    fillArchive({ pool, databaseUrl }, { ...archive, rows: Math.round(ARCHIVED * scale) }, step),
  ])
  step('vacuuming')
  await pool.query('vacuum millrace.job')
  await pool.query('vacuum millrace.job_archive')
  await pool.query('checkpoint')
}

/** Refuses where the disk might run full. The disk of a server elsewhere cannot be looked at. */
async function demandRoom(pool: pg.Pool, scale: number): Promise<void> {
  const { rows } = await pool.query<{ data_directory: string }>('show data_directory')
  const directory = rows[0]?.data_directory ?? ''
  const disk = await statfs(directory).catch(() => undefined)
  if (disk === undefined) return
  const free = disk.bavail * disk.bsize
  const needed = ROOM_BYTES * scale
  if (free >= needed) return
  throw new CannotMeasure(
    `There are ${gb(free)} GB free for ${directory}, and this may take ${gb(needed)}. Make room, name a server with DATABASE_URL, or take a smaller --scale.`,
  )
}

const gb = (bytes: number): string => (bytes / 2 ** 30).toFixed(1)

/** Partitions for the archive, and no autovacuum: it would analyse and tidy up some contestants and not others. */
export async function withoutAutovacuum(pool: pg.Pool, databaseUrl: string): Promise<void> {
  const db = new Database({ connection: { connectionString: databaseUrl }, schema: 'millrace', maxConnections: 1 })
  await ensurePartitions(db, null)
  await db.close()
  const { rows } = await pool.query<{ table: string }>(
    `select oid::regclass as "table" from pg_class
     where relnamespace = 'millrace'::regnamespace and relkind = 'r' and (relname = 'job' or relispartition)`,
  )
  for (const { table } of rows) await pool.query(`alter table ${table} set (autovacuum_enabled = off)`)
}

export type Statistics = 'fresh' | 'stale' | 'missing'

/**
 * fresh: analysed as filled. stale: analysed while the table had pages but no rows, as after a quiet night. missing:
 * never analysed. The last two are written into the catalogues, as if vacuum and analyze had done it.
 */
export async function setStatistics(pool: pg.Pool, statistics: Statistics): Promise<void> {
  if (statistics === 'fresh') {
    await pool.query('analyze millrace.job')
    await pool.query('analyze millrace.job_archive')
    return
  }
  const tables = `select oid from pg_class where relnamespace = 'millrace'::regnamespace and relname like 'job%'`
  await pool.query(`delete from pg_statistic where starelid in (${tables})`)
  await pool.query(
    `update pg_class set reltuples = $1, relpages = $2, relallvisible = 0 where relkind in ('r', 'i') and oid in (${tables})`,
    statistics === 'stale' ? [0, 100] : [-1, 0],
  )
}
