// Each with a worker of its own that has just started, on empty tables.
import { performance } from 'node:perf_hooks'
import { type Implementation, implement, type Millrace, type Worker, type WorkflowDefinition } from 'millrace'
import type { Bench } from '../bench.ts'
import { countdown } from '../countdown.ts'
import { median } from '../figures.ts'
import type { Contestant } from '../rounds.ts'
import { enqueueSpaced, monotonicUs, timed } from '../spaced-jobs.ts'
import { untilEmpty } from '../trivial-jobs.ts'
import { last, trivial } from './flows.ts'

const GAP_MS = 25
/** The first ones of each worker find nothing compiled and nothing cached. */
const WARM_UP = 20
const TABLES = ['job', 'job_archive', 'workflow', 'workflow_step', 'workflow_item']

/** From the call that enqueues all of them until no live job is left. */
export function plainJobs(bench: Bench, millrace: Millrace): Contestant {
  const { jobs } = bench.options
  return {
    name: `${jobs.toLocaleString('en')} plain jobs`,
    unit: 'µs/job',
    async measure() {
      const { count, reached } = countdown(jobs)
      await using _worker = await startWorker(bench, millrace, [implement(trivial, count)])
      const payloads = Array.from({ length: jobs }, (_, n) => ({ n }))
      const startedAt = performance.now()
      await millrace.enqueueMany(trivial, payloads)
      await reached
      await untilEmpty(bench.pool)
      return perStepUs(startedAt, jobs)
    },
  }
}

export interface Fan {
  readonly name: string
  /** Besides the one that waits for all of them. */
  readonly steps: number
  readonly flow: WorkflowDefinition
  readonly input?: unknown
}

/** From the call that starts the workflow until it has completed. */
export function fan(bench: Bench, millrace: Millrace, { name, steps, flow, input }: Fan): Contestant {
  return {
    name,
    unit: 'µs/step',
    async measure() {
      const handlers = [implement(trivial, () => {}), implement(last, () => {})]
      await using _worker = await startWorker(bench, millrace, handlers)
      const ended = millrace.events.next('workflow_completed')
      const startedAt = performance.now()
      await millrace.workflows.start(flow, input as never)
      await ended
      return perStepUs(startedAt, steps + 1)
    },
  }
}

const perStepUs = (startedAt: number, steps: number): number => ((performance.now() - startedAt) * 1_000) / steps

/** p50 from just before enqueue to the start of the handler. */
export function loneJob(bench: Bench, millrace: Millrace, jobs: number): Contestant {
  return {
    name: 'one job, own process',
    unit: 'ms',
    async measure() {
      const waits: number[] = []
      const { count, reached } = countdown(jobs + WARM_UP)
      const handler = implement(timed, ({ askedAtUs }) => {
        waits.push((monotonicUs() - askedAtUs) / 1_000)
        count()
      })
      await using _worker = await startWorker(bench, millrace, [handler])
      await enqueueSpaced(millrace, bench.databaseUrl, { jobs: jobs + WARM_UP, gapMs: GAP_MS, inTransaction: false })
      await reached
      return median(waits.slice(WARM_UP))
    },
  }
}

/** p50 from the start of a link's handler to the start of the next one's. */
export function chainLink(bench: Bench, millrace: Millrace, chain: WorkflowDefinition): Contestant {
  return {
    name: `link of a chain of ${chain.steps.length}`,
    unit: 'ms',
    async measure() {
      const starts: number[] = []
      await using _worker = await startWorker(bench, millrace, [
        implement(trivial, () => void starts.push(performance.now())),
      ])
      const ended = millrace.events.next('workflow_completed')
      await millrace.workflows.start(chain)
      await ended
      const waits = starts.slice(1).map((at, i) => at - (starts[i] as number))
      return median(waits.slice(Math.min(WARM_UP, waits.length >> 1)))
    },
  }
}

async function startWorker({ pool }: Bench, millrace: Millrace, handlers: Implementation[]): Promise<Worker> {
  await pool.query(`truncate ${TABLES.map((table) => `millrace.${table}`).join(', ')}`)
  await pool.query('checkpoint')
  const trusted = millrace.events.next('listen_trusted', ({ isTrusted }) => isTrusted)
  const worker = await millrace.work({ handlers })
  await trusted
  return worker
}
