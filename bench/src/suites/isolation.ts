// What a process of its own costs: the same trivial handler inline and isolated, one and ten at a time, and how long a
// process takes to start.
import { performance } from 'node:perf_hooks'
import { createMillrace, defineJob, defineQueues, type Isolation, implement, type Millrace } from 'millrace'
import { z } from 'zod'
import { IsolatedPool } from '../../../packages/engine/dist/worker/isolation/pool.js'
import type { Bench } from '../bench.ts'
import { type Contestant, interleave, named, ratio } from '../rounds.ts'
import type { Suite } from '../suite.ts'

const queues = defineQueues({ bench: { concurrency: 10 } })
const trivial = defineJob({ type: 'bench', queue: queues.bench, payload: z.object({ n: z.number() }) })
const module = new URL('./trivial-handler.js', import.meta.url)
const nothing = () => {}

export const isolation: Suite = {
  name: 'isolation',
  summary: 'trivial jobs in processes of their own, against inline ones',
  jobs: 500,

  async run(bench) {
    await using millrace = createMillrace({ database: bench.databaseUrl, jobs: [trivial] })
    const contestants = [1, 10].flatMap((slots) => [
      drained(bench, millrace, { name: 'inline', slots, handler: nothing }),
      drained(bench, millrace, {
        name: 'isolated',
        slots,
        handler: { isolation: 'process', module, warm: slots },
      }),
    ])
    const measurements = await interleave([...contestants, coldStart()], {
      ...bench.options,
      progress: bench.progress,
      step: bench.step,
    })
    const of = (name: string) => named(measurements, name)
    return {
      measurements,
      ratios: [1, 10].map((slots) =>
        ratio(
          `isolated / inline, ${slots} at a time`,
          of(`isolated, ${slots} at a time`),
          of(`inline, ${slots} at a time`),
        ),
      ),
    }
  },
}

interface Plan {
  name: string
  slots: number
  handler: (() => void) | Isolation
}

/** The processes are warm: the clock runs from the moment the worker has started. */
function drained({ options, pool }: Bench, millrace: Millrace, { name, slots, handler }: Plan): Contestant {
  return {
    name: `${name}, ${slots} at a time`,
    unit: 'jobs/s',
    async measure() {
      await pool.query('truncate millrace.job, millrace.job_archive')
      await millrace.enqueueMany(
        trivial,
        Array.from({ length: options.jobs }, (_, n) => ({ n })),
      )
      let left = options.jobs
      const done = new Promise<void>((resolve) => {
        const off = millrace.events.on('job_completed', () => {
          if (--left > 0) return
          off()
          resolve()
        })
      })
      const started = millrace.events.next('worker_started').then(() => performance.now())
      const worker = await millrace.work({ handlers: [implement(trivial, handler)], concurrency: { bench: slots } })
      await done
      const tookMs = performance.now() - (await started)
      await worker.stop()
      return (options.jobs * 1_000) / tookMs
    },
  }
}

/** From nothing to a process that has loaded its module. */
function coldStart(): Contestant {
  return {
    name: 'start of a process',
    unit: 'ms',
    async measure() {
      const settings = { type: trivial.type, module, memoryMb: 256, warm: 1, idleMs: 60_000, maxRuns: 1 }
      const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }
      const pool = new IsolatedPool({ ...settings, connection: {}, schema: 'millrace' }, logger)
      const before = performance.now()
      await pool.start()
      const tookMs = performance.now() - before
      await pool.close()
      return tookMs
    },
  }
}
