// Jobs of tenants, put straight into the table by the hundred thousand, and handlers that take a while.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineJob, defineQueues, type Implementation, implement } from 'millrace'
import type pg from 'pg'
import { z } from 'zod'

export const SLOTS = 20
/** Long against a claim, so that shares and idle slots are a matter of decisions and not of the claim's speed. */
export const HANDLER_MS = 10

const { shared: queue } = defineQueues({ shared: { concurrency: SLOTS } })
export const tenantJob = defineJob({ type: 'shared', queue, payload: z.object({ n: z.number() }) })

/** How many jobs each tenant has; null: jobs without one. */
export interface Backlog {
  readonly type: string
  readonly queue: string
  readonly priority: number
  readonly jobs: ReadonlyMap<string | null, number>
}

const insert = `
insert into millrace.job
  (type, queue, priority, tenant, max_attempts, run_at, created_at, updated_at, correlation_id, payload)
select $1, $2, $3::int, whose.tenant, 5, now(), now(), now(), gen_random_uuid(), jsonb_build_object('n', n)
from unnest($4::text[], $5::int[]) as whose (tenant, jobs)
cross join lateral generate_series(1, whose.jobs) as n
order by n, whose.tenant`

/** Nothing but these jobs, with statistics that know them; everybody's first, then everybody's second, and so on. */
export async function fillTenants(pool: pg.Pool, { type, queue, priority, jobs }: Backlog): Promise<void> {
  await pool.query('truncate millrace.job, millrace.job_archive')
  await pool.query(insert, [type, queue, priority, [...jobs.keys()], [...jobs.values()]])
  await pool.query('vacuum analyze millrace.job')
  await pool.query('checkpoint')
}

export const fillShared = (pool: pg.Pool, jobs: ReadonlyMap<string | null, number>): Promise<void> =>
  fillTenants(pool, { type: tenantJob.type, queue: queue.name, priority: queue.priority, jobs })

export interface RunTimes {
  readonly tenant: string
  readonly n: number
  readonly startedMs: number
  endedMs: number
}

/** A handler that waits, and tells who ran when. */
export function timedHandler(onStart: (run: RunTimes) => void): Implementation {
  return implement(tenantJob, async ({ n }, { tenant }) => {
    const run: RunTimes = { tenant: tenant ?? '', n, startedMs: performance.now(), endedMs: Number.POSITIVE_INFINITY }
    onStart(run)
    await sleep(HANDLER_MS)
    run.endedMs = performance.now()
  })
}
