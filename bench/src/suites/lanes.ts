// How long a quick job waits for its start while slow ones keep every slot that they may take busy.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMillrace, defineJob, defineQueues, implement, type Millrace, type WorkOptions } from 'millrace'
import { z } from 'zod'
import type { Bench } from '../bench.ts'
import { percentile } from '../figures.ts'
import { type Contestant, interleave, named, ratio } from '../rounds.ts'
import type { Suite } from '../suite.ts'

const SLOW_MS = 500
const SLOW_JOBS = 5_000
const IDLE = 'fast 3 + general 5, nothing else to do'
const BUSY = 'fast 3 + general 5, full of slow jobs'
const ONE_LANE = 'one lane of 8, full of slow jobs'

const { work: queue } = defineQueues({ work: {} })
const quick = defineJob({ type: 'quick', queue, payload: z.object({ n: z.number() }), speed: 'fast' })
const slow = defineJob({ type: 'slow', queue, payload: z.object({}) })

const twoLanes = { lanes: { fast: { slots: 3, takes: 'fast' }, general: { slots: 5 } } } as const
const oneLane = { lanes: { all: { slots: 8 } } }

export const lanes: Suite = {
  name: 'lanes',
  summary: `p95 of a quick job's wait beside ${SLOW_JOBS.toLocaleString('en')} slow ones of ${SLOW_MS} ms`,
  jobs: 200,

  async run(bench) {
    await using millrace = createMillrace({ database: bench.databaseUrl, jobs: [quick, slow] })
    const contestants = [
      waiting(bench, millrace, { name: IDLE, slowJobs: 0, ...twoLanes }),
      waiting(bench, millrace, { name: BUSY, slowJobs: SLOW_JOBS, ...twoLanes }),
      waiting(bench, millrace, { name: ONE_LANE, slowJobs: SLOW_JOBS, ...oneLane }),
    ]
    const measurements = await interleave(contestants, { ...bench.options, progress: bench.progress, step: bench.step })
    const of = (name: string) => named(measurements, name)
    return {
      measurements,
      ratios: [
        ratio('wait in the fast lane, busy / idle', of(BUSY), of(IDLE)),
        ratio('one lane / fast lane, both busy', of(ONE_LANE), of(BUSY)),
      ],
    }
  },
}

interface Setting extends Pick<WorkOptions, 'lanes'> {
  name: string
  slowJobs: number
}

function waiting({ pool, options }: Bench, millrace: Millrace, { name, slowJobs, lanes }: Setting): Contestant {
  return {
    name,
    unit: 'ms',
    async measure() {
      await pool.query('truncate millrace.job, millrace.job_archive')
      let hasStarted = (_: number) => {}
      const handlers = [
        implement(quick, () => hasStarted(performance.now())),
        implement(slow, async (_, { signal }) => void (await sleep(SLOW_MS, undefined, { signal }))),
      ]
      await millrace.enqueueMany(
        slow,
        Array.from({ length: slowJobs }, () => ({})),
      )
      const busy = slowJobs === 0 ? undefined : millrace.events.next('job_completed')
      await using _worker = await millrace.work({ handlers, ...(lanes && { lanes }), gracePeriod: '0ms' })
      await busy
      const waits: number[] = []
      for (let n = 0; n < options.jobs; n++) {
        const started = new Promise<number>((resolve) => {
          hasStarted = resolve
        })
        const askedAt = performance.now()
        // Ahead of the slow ones: without that it would wait for the whole backlog of the single lane.
        await millrace.enqueue(quick, { n }, { priority: 0 })
        waits.push((await started) - askedAt)
      }
      return percentile(waits, 0.95)
    },
  }
}
