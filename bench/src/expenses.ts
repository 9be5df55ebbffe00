// What a piece of work costs, read before and after it: log written, processor time, pages touched, rows left dead.
import type pg from 'pg'
import { OWN_CONNECTIONS } from './bench.ts'
import type { Child } from './child.ts'
import { until } from './until.ts'

export interface Meter {
  readonly pool: pg.Pool
  /** Whose tables are looked at. */
  readonly schema: string
  /** The process that does the work. */
  readonly child: Child
  readonly readServerCpu: (() => Promise<number>) | undefined
}

export interface Expenses {
  readonly walBytes: number
  readonly clientCpuUs: number
  readonly serverCpuUs: number
  readonly pages: number
  readonly deadRows: number
}

const NOBODY_ELSE = `
select not exists (
  select from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and application_name <> $1
) as is_so`

/** `work` must close its connections at the end: a session tells what it did when it ends, or a second later. */
export async function expensesOf(meter: Meter, work: () => Promise<void>): Promise<Expenses> {
  const before = await read(meter)
  await work()
  await until(meter.pool, NOBODY_ELSE, [OWN_CONNECTIONS])
  const after = await read(meter)
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, value - before[name as keyof Expenses]]),
  ) as unknown as Expenses
}

async function read({ pool, schema, child, readServerCpu }: Meter): Promise<Expenses> {
  const { rows } = await pool.query<{ wal: string; pages: string; dead: string }>(
    `select
       pg_current_wal_insert_lsn() - '0/0'::pg_lsn as wal,
       (select sum(coalesce(heap_blks_read + heap_blks_hit, 0) + coalesce(idx_blks_read + idx_blks_hit, 0))
        from pg_statio_user_tables where schemaname = $1) as pages,
       (select sum(n_tup_upd + n_tup_del) from pg_stat_user_tables where schemaname = $1) as dead`,
    [schema],
  )
  return {
    walBytes: Number(rows[0]?.wal),
    pages: Number(rows[0]?.pages),
    deadRows: Number(rows[0]?.dead),
    clientCpuUs: await child.call('cpuUs'),
    serverCpuUs: (await readServerCpu?.()) ?? 0,
  }
}
