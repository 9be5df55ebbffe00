// Jobs that are enqueued as fast as a worker in another process runs them, for a while: the queue is never empty and
// never deep, and dead rows pile up at its head.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Millrace } from 'millrace'
import type pg from 'pg'
import type { Child } from './child.ts'
import { batches, trivial } from './trivial-jobs.ts'

const BATCH = 1_000
const LOOK_EVERY_MS = 5
/** A list is of one tenant: each batch is a few of them. */
const TENANTS_PER_BATCH = 5

export interface FlowPlan {
  readonly databaseUrl: string
  readonly pool: pg.Pool
  readonly millrace: Millrace
  readonly worker: Child
  /** How many jobs are kept waiting. */
  readonly depth: number
  /** Of how many tenants they are, in turn. 0: of none. */
  readonly tenants: number
  readonly seconds: number
  readonly windowSeconds: number
  step(message: string): void
}

/** One stretch of the course. */
export interface FlowWindow {
  readonly untilSecond: number
  readonly jobsPerSecond: number
  /** Row versions of the live table that nobody needs any more, as far as the server has counted. */
  readonly deadRows: number
}

export async function flow(plan: FlowPlan): Promise<FlowWindow[]> {
  const { worker, databaseUrl, pool, seconds, windowSeconds, step } = plan
  await worker.call('startWorker', { databaseUrl })
  const feeder = new Feeder(plan)
  const feeding = feeder.run()
  const startedAt = performance.now()
  const windows: FlowWindow[] = []
  let [lastHandled, lastSecond] = [0, 0]
  while (windows.length < Math.round(seconds / windowSeconds)) {
    const nextSecond = (windows.length + 1) * windowSeconds
    await Promise.race([sleep(startedAt + nextSecond * 1_000 - performance.now()), feeding])
    const handled = await worker.call('handledByWorker')
    const second = (performance.now() - startedAt) / 1_000
    const jobsPerSecond = (handled - lastHandled) / (second - lastSecond)
    windows.push({ untilSecond: Math.round(second * 10) / 10, jobsPerSecond, deadRows: await deadRows(pool) })
    step(`${Math.round(second)} of ${seconds} s: ${Math.round(jobsPerSecond).toLocaleString('en')} jobs/s`)
    lastHandled = handled
    lastSecond = second
  }
  feeder.stop()
  await feeding
  await worker.call('stopWorker')
  return windows
}

class Feeder {
  readonly #plan: FlowPlan
  #isStopped = false
  #turn = 0

  constructor(plan: FlowPlan) {
    this.#plan = plan
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Keeps the queue at its depth. */
  async run(): Promise<void> {
    const { worker, depth } = this.#plan
    const batch = Math.min(BATCH, depth)
    let enqueued = 0
    while (!this.#isStopped) {
      const missing = depth - (enqueued - (await worker.call('handledByWorker')))
      if (missing < batch) await sleep(LOOK_EVERY_MS)
      for (const payloads of batches(missing - (missing % batch), batch)) {
        await this.#enqueue(payloads)
        enqueued += payloads.length
      }
    }
  }

  async #enqueue(payloads: { n: number }[]): Promise<void> {
    const { millrace, tenants } = this.#plan
    if (tenants === 0) return void (await millrace.enqueueMany(trivial, payloads))
    const size = Math.ceil(payloads.length / TENANTS_PER_BATCH)
    const parts = Array.from({ length: TENANTS_PER_BATCH }, (_, i) => payloads.slice(i * size, (i + 1) * size))
    const tenant = () => `tenant-${this.#turn++ % tenants}`
    await Promise.all(parts.map((part) => millrace.enqueueMany(trivial, part, { tenant: tenant() })))
  }
}

async function deadRows(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ dead: string }>(
    `select n_dead_tup as dead from pg_stat_user_tables where schemaname = 'millrace' and relname = 'job'`,
  )
  return Number(rows[0]?.dead ?? 0)
}
