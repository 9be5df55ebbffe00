// The job that most suites run: one queue with 50 slots, a handler that does nothing, and how a backlog of it is
// filled and worked off.
import { performance } from 'node:perf_hooks'
import { defineJob, defineQueues, type EnqueueOptions, implement, type Millrace } from 'millrace'
import type pg from 'pg'
import { z } from 'zod'
import { countdown } from './countdown.ts'
import { until } from './until.ts'

const FILL_BATCH = 5_000

export const queues = defineQueues({ bench: { concurrency: 50 } })
export const trivial = defineJob({ type: 'bench', queue: queues.bench, payload: z.object({ n: z.number() }) })

/** Nothing but these jobs, with statistics that know them. */
export async function fill(
  pool: pg.Pool,
  millrace: Millrace,
  jobs: number,
  enqueue: (jobs: number) => Promise<void> = (count) => enqueueAll(millrace, count),
): Promise<void> {
  await pool.query('truncate millrace.job, millrace.job_archive')
  await enqueue(jobs)
  await pool.query('vacuum analyze millrace.job')
  await pool.query('checkpoint')
}

export async function enqueueAll(
  millrace: Millrace,
  jobs: number,
  batchSize = FILL_BATCH,
  optionsOf: (batch: number) => EnqueueOptions = () => ({}),
): Promise<void> {
  let batch = 0
  for (const payloads of batches(jobs, batchSize)) await millrace.enqueueMany(trivial, payloads, optionsOf(batch++))
}

export function* batches(jobs: number, size = FILL_BATCH): Generator<{ n: number }[]> {
  for (let from = 0; from < jobs; from += size) {
    yield Array.from({ length: Math.min(size, jobs - from) }, (_, i) => ({ n: from + i }))
  }
}

export interface DrainPlan {
  readonly jobs: number
  /** What each handler does. Default: nothing. */
  readonly work?: () => Promise<void>
  /** The last handler has returned; resolves when its result is written too. */
  untilSettled(): Promise<void>
}

/** Jobs per second of a worker in this process, from the moment it has started. */
export async function drainRate(millrace: Millrace, { jobs, work, untilSettled }: DrainPlan): Promise<number> {
  const { count, reached } = countdown(jobs)
  const handler = implement(trivial, work === undefined ? count : () => work().then(count))
  const started = millrace.events.next('worker_started').then(() => performance.now())
  const worker = await millrace.work({ handlers: [handler] })
  await reached
  await untilSettled()
  const tookMs = performance.now() - (await started)
  await worker.stop()
  return (jobs * 1_000) / tookMs
}

/** Until no live job is left. */
export async function untilEmpty(pool: pg.Pool): Promise<void> {
  await until(pool, 'select not exists (select from millrace.job) as is_so')
}

/** Until no live job is left that is younger than that one. By index, whatever the planner believes. */
export async function untilSettledAfter(pool: pg.Pool, id: string): Promise<void> {
  await until(pool, 'select coalesce(max(id), 0) <= $1 as is_so from millrace.job', [id])
}
