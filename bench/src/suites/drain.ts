// How fast a backlog is worked off: handlers that do nothing, one call per job, everything durable, history kept; and
// how much of their time handlers that wait are kept waiting for nothing.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMillrace, type Millrace } from 'millrace'
import type { Bench } from '../bench.ts'
import { RawQueue } from '../raw-queue.ts'
import { atLeast } from '../report.ts'
import { type Contestant, interleave, named, ratio, share } from '../rounds.ts'
import { drainByStatements } from '../statement-loop.ts'
import type { Suite } from '../suite.ts'
import { batches, drainRate, fill, queues, trivial, untilEmpty } from '../trivial-jobs.ts'

const OURS = 'millrace, defaults, 50 slots'
const RAW = 'raw loop, 500 + 500'
const STATEMENTS = 'our statements, 500 + 500'
const SLEEP_MS = 10
const SLEEPING = `millrace, handlers of ${SLEEP_MS} ms`
const TIMERS = `50 bare timers of ${SLEEP_MS} ms`
const SLOTS = queues.bench.concurrency
const IDEAL = (SLOTS * 1_000) / SLEEP_MS
/** Jobs that sleep take twenty times as long, and need not be as many. */
const SLEEPING_SHARE = 0.2

export const drain: Suite = {
  name: 'drain',
  summary: 'a backlog of trivial jobs, against a raw SQL loop',
  jobs: 100_000,

  async run(bench) {
    await using millrace = createMillrace({ database: bench.databaseUrl, jobs: [trivial] })
    const contestants = [
      ours(bench, millrace),
      raw(bench),
      statements(bench, millrace),
      sleeping(bench, millrace),
      timers(bench),
    ]
    const { options, progress, step } = bench
    const measurements = await interleave(contestants, { ...options, progress, step })
    const of = (name: string) => named(measurements, name)
    return {
      measurements,
      ratios: [
        ratio('millrace / raw loop', of(OURS), of(RAW), atLeast(0.8)),
        ratio('our statements / raw loop', of(STATEMENTS), of(RAW)),
        ratio('millrace / our statements', of(OURS), of(STATEMENTS)),
        share(`handlers of ${SLEEP_MS} ms / ideal ${IDEAL} a second`, of(SLEEPING), IDEAL, atLeast(0.95)),
        ratio(`handlers of ${SLEEP_MS} ms / bare timers`, of(SLEEPING), of(TIMERS)),
      ],
    }
  },
}

function ours({ pool, options }: Bench, millrace: Millrace): Contestant {
  return {
    name: OURS,
    unit: 'jobs/s',
    async measure() {
      await fill(pool, millrace, options.jobs)
      return drainRate(millrace, { jobs: options.jobs, untilSettled: () => untilEmpty(pool) })
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
      await fill(bench.pool, millrace, bench.options.jobs)
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

function sleeping({ pool, options }: Bench, millrace: Millrace): Contestant {
  const jobs = sleepingJobs(options.jobs)
  return {
    name: SLEEPING,
    unit: 'jobs/s',
    async measure() {
      await fill(pool, millrace, jobs)
      return drainRate(millrace, { jobs, work: () => sleep(SLEEP_MS), untilSettled: () => untilEmpty(pool) })
    },
  }
}

/** What Node's own timers leave of the ideal: they are late by up to a millisecond. */
function timers({ options }: Bench): Contestant {
  return {
    name: TIMERS,
    unit: 'jobs/s',
    async measure() {
      const jobs = sleepingJobs(options.jobs)
      let left = jobs
      const slot = async () => {
        while (left-- > 0) await sleep(SLEEP_MS)
      }
      const startedAt = performance.now()
      await Promise.all(Array.from({ length: SLOTS }, slot))
      return (jobs * 1_000) / (performance.now() - startedAt)
    },
  }
}

const sleepingJobs = (jobs: number): number => Math.ceil(jobs * SLEEPING_SHARE)
