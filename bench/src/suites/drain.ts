// How fast a backlog is worked off: handlers that do nothing, one call per job, everything durable, history kept.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMillrace, defineJob, defineQueues, implement, type Millrace } from 'millrace'
import type pg from 'pg'
import { z } from 'zod'
import type { Bench } from '../bench.ts'
import { RawQueue } from '../raw-queue.ts'
import { type Contestant, interleave, named, ratio } from '../rounds.ts'
import { drainByStatements } from '../statement-loop.ts'
import type { Suite } from '../suite.ts'

const FILL_BATCH = 5_000
const OURS = 'millrace, defaults, 50 slots'
const RAW = 'raw loop, 500 + 500'
const STATEMENTS = 'our statements, 500 + 500'

const queues = defineQueues({ bench: { concurrency: 50 } })
const trivial = defineJob({ type: 'bench', queue: queues.bench, payload: z.object({ n: z.number() }) })

export const drain: Suite = {
  name: 'drain',
  summary: 'a backlog of trivial jobs, against a raw SQL loop',
  jobs: 100_000,

  async run(bench) {
    await using millrace = createMillrace({ database: bench.databaseUrl, jobs: [trivial] })
    const contestants = [ours(bench, millrace), raw(bench), statements(bench, millrace)]
    const measurements = await interleave(contestants, { ...bench.options, progress: bench.progress })
    const of = (name: string) => named(measurements, name)
    return {
      measurements,
      ratios: [
        ratio('millrace / raw loop', of(OURS), of(RAW), 0.8),
        ratio('our statements / raw loop', of(STATEMENTS), of(RAW)),
        ratio('millrace / our statements', of(OURS), of(STATEMENTS)),
      ],
    }
  },
}

function ours(bench: Bench, millrace: Millrace): Contestant {
  const { pool, options } = bench
  return {
    name: OURS,
    unit: 'jobs/s',
    async measure() {
      await fill(bench, millrace)
      let handled = 0
      let allHandled = () => {}
      const last = new Promise<void>((resolve) => {
        allHandled = resolve
      })
      const started = millrace.events.next('worker_started').then(() => performance.now())
      const handler = implement(trivial, () => {
        if (++handled === options.jobs) allHandled()
      })
      const worker = await millrace.work({ handlers: [handler] })
      await last
      await untilEmpty(pool)
      const tookMs = performance.now() - (await started)
      await worker.stop()
      return (options.jobs * 1_000) / tookMs
    },
  }
}

function raw(bench: Bench): Contestant {
  const queue = new RawQueue(bench.pool)
  return {
    name: RAW,
    unit: 'jobs/s',
    async measure() {
      await queue.reset()
      for (const payloads of batches(bench.options.jobs)) await queue.insert(payloads)
      await queue.analyze()
      await bench.pool.query('checkpoint')
      return rateOf(bench, () => queue.drain())
    },
  }
}

function statements(bench: Bench, millrace: Millrace): Contestant {
  return {
    name: STATEMENTS,
    unit: 'jobs/s',
    async measure() {
      await fill(bench, millrace)
      return rateOf(bench, () => drainByStatements(bench.databaseUrl, queues.bench.name, trivial.type))
    },
  }
}

async function rateOf({ options }: Bench, loop: () => Promise<number>): Promise<number> {
  const startedAt = performance.now()
  const handled = await loop()
  const tookMs = performance.now() - startedAt
  if (handled !== options.jobs) throw new Error(`the loop ran ${handled} of ${options.jobs} jobs`)
  return (options.jobs * 1_000) / tookMs
}

async function fill({ pool, options }: Bench, millrace: Millrace): Promise<void> {
  await pool.query('truncate millrace.job, millrace.job_archive')
  for (const payloads of batches(options.jobs)) await millrace.enqueueMany(trivial, payloads)
  await pool.query('vacuum analyze millrace.job')
  await pool.query('checkpoint')
}

/** The last handler has returned; the clock runs until its result is written too. */
async function untilEmpty(pool: pg.Pool): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ isEmpty: boolean }>('select not exists (select from millrace.job) as "isEmpty"')
    if (rows[0]?.isEmpty) return
    await sleep(2)
  }
}

function* batches(jobs: number): Generator<{ n: number }[]> {
  for (let from = 0; from < jobs; from += FILL_BATCH) {
    yield Array.from({ length: Math.min(FILL_BATCH, jobs - from) }, (_, i) => ({ n: from + i }))
  }
}
