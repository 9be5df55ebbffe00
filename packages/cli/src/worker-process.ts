// What `dev` and `work` have in common once there is a database: client, workload, worker, and how they stop.
import {
  createMillrace,
  type Duration,
  encryptionFrom,
  type Logger,
  type Millrace,
  type Worker,
  type WorkOptions,
  workSettingsFrom,
} from 'millrace'
import { logJobs } from './job-log.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Workload } from './workload.ts'

export interface WorkerPlan {
  readonly workload: Workload
  readonly databaseUrl: string
  readonly logger: Logger
  /** Slots per queue, instead of the queues' own. */
  readonly concurrency: Readonly<Record<string, number>>
  readonly grace: Duration
  /** An operator asked the worker to stop: the process ends with it. */
  onAskedToStop?(): void
}

const WORKLOAD_STOP_MS = 10_000

/** Starts the workload's own parts, then the worker; undefined when the workload has no handlers. */
export async function startWorker(lifecycle: Lifecycle, plan: WorkerPlan): Promise<Worker | undefined> {
  const { workload, databaseUrl, logger } = plan
  const { jobs, schedules = [], workflows = [], tenantRole, version } = workload
  const millrace = await lifecycle.start({
    name: 'client',
    begin: async () => {
      const encryption = encryptionFrom(process.env)
      return createMillrace({
        database: databaseUrl,
        ...{ jobs, schedules, workflows, tenantRole, version, logger },
        ...(encryption && { encryption }),
      })
    },
    end: (client) => client.close(),
  })
  logJobs(millrace, logger)
  millrace.events.on('worker_asked', ({ request }) => {
    if (request?.kind !== 'stop') return
    plan.onAskedToStop?.()
    lifecycle.stop()
  })
  // Before the worker, so that no handler runs without what it needs, and every handler has it until the end.
  await lifecycle.start({
    name: `workload ${workload.name}`,
    begin: async () => workload.start?.({ millrace, logger, databaseUrl }),
    end: async (started) => {
      if (started !== undefined) await within(WORKLOAD_STOP_MS, started.stop())
    },
  })
  if (workload.handlers.length === 0) return undefined
  const finished = countOfFinished(millrace)
  return lifecycle.start({
    name: 'worker',
    begin: () => millrace.work({ ...settingsOf(plan), handlers: workload.handlers, gracePeriod: plan.grace }),
    end: (worker) => drain(worker, plan, finished),
  })
}

/** How many jobs have completed from now on. */
function countOfFinished({ events }: Millrace): () => number {
  let finished = 0
  events.on('job_completed', () => finished++)
  return () => finished
}

async function drain(worker: Worker, { logger, grace }: WorkerPlan, finished: () => number): Promise<void> {
  const { running } = worker
  if (running > 0) logger.info({ running, grace }, `waiting for ${counted(running, 'running job')}, at most ${grace}`)
  await worker.stop()
  logger.info(
    { worker: worker.id, finished: finished() },
    'the worker has stopped: what it did not finish is back in its queue',
  )
}

function settingsOf({ workload, concurrency }: WorkerPlan): Omit<WorkOptions, 'handlers'> {
  const contracts = workload.handlers.map(({ contract }) => contract)
  return { ...workSettingsFrom(process.env, contracts, workload.settings), concurrency }
}

/** Why the worker cannot work right now, or undefined. */
export function obstacleOf(worker: Worker | undefined): string | undefined {
  return worker?.isReady === false ? "the worker's lease is in doubt: it was not renewed in time" : undefined
}

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`stop() did not return within ${ms / 1_000} s`)), ms)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
