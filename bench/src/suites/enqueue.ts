// How fast jobs are written: many at a time, and one by one with several callers waiting.
import { performance } from 'node:perf_hooks'
import { createMillrace, defineJob, defineQueues, type Millrace } from 'millrace'
import { z } from 'zod'
import type { Bench } from '../bench.ts'
import { RawQueue } from '../raw-queue.ts'
import { type Contestant, interleave, named, ratio } from '../rounds.ts'
import type { Suite } from '../suite.ts'

const BATCH = 1_000
const RAW_BULK = 'raw insert, 1,000 rows'
const RAW_SINGLE = 'raw insert, one row'
const BULK = 'enqueueMany, 1,000 jobs'
const IN_FLIGHT = [1, 16, 256]
const single = (inFlight: number): string => `enqueue, ${inFlight} in flight`

const queues = defineQueues({ bench: {} })
const job = defineJob({ type: 'bench', queue: queues.bench, payload: z.object({ n: z.number() }) })

export const enqueue: Suite = {
  name: 'enqueue',
  summary: 'writing jobs in bulk and one by one, against raw inserts',
  jobs: 100_000,

  async run(bench) {
    await using millrace = createMillrace({ database: bench.databaseUrl, jobs: [job] })
    const contestants = [
      rawInsert(bench, RAW_BULK, BATCH),
      rawInsert(bench, RAW_SINGLE, 1),
      bulk(bench, millrace),
      ...IN_FLIGHT.map((inFlight) => oneByOne(bench, millrace, inFlight)),
    ]
    const measurements = await interleave(contestants, { ...bench.options, progress: bench.progress, step: bench.step })
    const of = (name: string) => named(measurements, name)
    return {
      measurements,
      ratios: [
        ratio('enqueueMany / raw 1,000 rows', of(BULK), of(RAW_BULK)),
        ...IN_FLIGHT.map((n) => ratio(`${n} in flight / raw 1,000 rows`, of(single(n)), of(RAW_BULK))),
        ratio('1 in flight / raw one row', of(single(1)), of(RAW_SINGLE)),
      ],
    }
  },
}

function rawInsert({ pool, options }: Bench, name: string, rowsPerInsert: number): Contestant {
  const queue = new RawQueue(pool)
  return contestant(name, jobsFor(options.jobs, rowsPerInsert), {
    prepare: () => queue.reset(),
    async write(jobs) {
      for (let n = 0; n < jobs; n += rowsPerInsert) await queue.insert(payloads(n, Math.min(rowsPerInsert, jobs - n)))
    },
  })
}

function bulk({ pool, options }: Bench, millrace: Millrace): Contestant {
  return contestant(BULK, options.jobs, {
    prepare: () => pool.query('truncate millrace.job'),
    async write(jobs) {
      for (let n = 0; n < jobs; n += BATCH) await millrace.enqueueMany(job, payloads(n, Math.min(BATCH, jobs - n)))
    },
  })
}

function oneByOne({ pool, options }: Bench, millrace: Millrace, inFlight: number): Contestant {
  return contestant(single(inFlight), jobsFor(options.jobs, inFlight), {
    prepare: () => pool.query('truncate millrace.job'),
    async write(jobs) {
      let next = 0
      const caller = async () => {
        while (next < jobs) await millrace.enqueue(job, { n: next++ })
      }
      await Promise.all(Array.from({ length: inFlight }, caller))
    },
  })
}

function contestant(
  name: string,
  jobs: number,
  { prepare, write }: { prepare(): Promise<unknown>; write(jobs: number): Promise<void> },
): Contestant {
  return {
    name,
    unit: 'jobs/s',
    async measure() {
      await prepare()
      const startedAt = performance.now()
      await write(jobs)
      return (jobs * 1_000) / (performance.now() - startedAt)
    },
  }
}

/** One row at a time means one commit at a time: fewer of those still take long enough to be measured. */
function jobsFor(jobs: number, atOnce: number): number {
  return Math.max(1, Math.round(atOnce === 1 ? jobs / 100 : atOnce < 100 ? jobs / 10 : jobs))
}

const payloads = (from: number, count: number): { n: number }[] =>
  Array.from({ length: count }, (_, i) => ({ n: from + i }))
