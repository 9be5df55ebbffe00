// What `dev` and `work` have in common once there is a database: client, workload, worker, and how they stop.
import type { Delivery } from '@millrace/escalation'
import {
  createMillrace,
  type EncryptionOptions,
  ESCALATION_QUEUE,
  type Logger,
  type Millrace,
  type Worker,
  type WorkOptions,
  workSettingsFrom,
} from 'millrace'
import type { WorkerOptions } from './commands/worker-options.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { ProcessMetrics } from './process-metrics.ts'
import { startTracing } from './tracing.ts'
import type { StartContext, Workload } from './workload.ts'
import { queuesOf, startWorkload } from './workload-start.ts'

export interface WorkerPlan {
  readonly workload: Workload
  readonly databaseUrl: string
  readonly logger: Logger
  readonly options: WorkerOptions
  readonly encryption: EncryptionOptions | undefined
  readonly mode: StartContext['mode']
  /** Adds a line to the summary. */
  announce(label: string, value: string): void
  /** Undefined: nothing scrapes this process. */
  readonly metrics: ProcessMetrics | undefined
  /** Tells what becomes of jobs. */
  tell(millrace: Millrace): void
  /** An operator asked the worker to stop: the process ends with it. */
  onAskedToStop?(): void
}

/** Starts the workload's own parts, then the worker; undefined when the workload has no handlers. */
export async function startWorker(lifecycle: Lifecycle, plan: WorkerPlan): Promise<Worker | undefined> {
  const { workload, databaseUrl, logger, options, encryption } = plan
  const { schedules = [], workflows = [], tenantRole, version, escalation } = workload
  const jobs = [...workload.jobs, ...(escalation?.jobs ?? [])]
  // For handlers, those with a process of their own too: however the database was named, they find it here.
  process.env.DATABASE_URL = databaseUrl
  await startTracing(lifecycle, workload, logger)
  const millrace = await lifecycle.start({
    name: 'client',
    begin: async () => {
      const { schema, notify, maxConnections } = options
      return createMillrace({
        database: databaseUrl,
        ...{ jobs, schedules, workflows, tenantRole, version, logger, schema, notify },
        ...(maxConnections && { maxConnections }),
        ...(encryption && { encryption }),
      })
    },
    end: (client) => client.close(),
  })
  await plan.metrics?.start(lifecycle, millrace, workload)
  plan.tell(millrace)
  millrace.events.on('worker_asked', ({ request }) => {
    if (request?.kind !== 'stop') return
    plan.onAskedToStop?.()
    lifecycle.stop()
  })
  // Before the worker, so that no handler runs without what it needs, and every handler has it until the end.
  const context: StartContext = {
    ...{ millrace, logger, databaseUrl, mode: plan.mode },
    queues: options.queues ?? queuesOf(workload),
    announce: (label, value) => plan.announce(label, value),
  }
  await startWorkload(lifecycle, workload, context)
  if (workload.handlers.length === 0 && escalation === undefined) return undefined
  const delivery = await lifecycle.start({
    name: 'escalation',
    begin: async () => escalation?.attach({ millrace, logger }),
    end: async (attached) => attached?.stop(),
  })
  const finished = countOfFinished(millrace)
  const worker = await lifecycle.start({
    name: 'worker',
    begin: async () => {
      const started = await millrace.work(workOptionsOf(plan, delivery))
      plan.metrics?.watch(started)
      return started
    },
    end: (started) => drain(started, plan, finished),
  })
  await workload.ready?.({ ...context, worker })
  return worker
}

/** How many jobs have completed from now on. */
function countOfFinished({ events }: Millrace): () => number {
  let finished = 0
  events.on('job_completed', () => finished++)
  return () => finished
}

async function drain(
  worker: Worker,
  { logger, options: { grace } }: WorkerPlan,
  finished: () => number,
): Promise<void> {
  const { running } = worker
  if (running > 0) logger.info({ running, grace }, `waiting for ${counted(running, 'running job')}, at most ${grace}`)
  await worker.stop()
  logger.info(
    { worker: worker.id, finished: finished() },
    'the worker has stopped: what it did not finish is back in its queue',
  )
}

/** An option wins over its variable, and a variable over what the workload says. */
function workOptionsOf({ workload, options }: WorkerPlan, delivery: Delivery | undefined): WorkOptions {
  const { middleware = [], alerts } = workload
  const handlers = [...workload.handlers, ...(delivery?.handlers ?? [])]
  const contracts = handlers.map(({ contract }) => contract)
  const settings = workSettingsFrom(process.env, contracts, workload.settings)
  const { concurrency, queues, grace, lease, overload, deadLetterAlertAt } = options
  return {
    ...settings,
    // Lanes name their queues, and none of the workload's would take the deliveries.
    ...(settings.lanes &&
      delivery && { lanes: { escalation: { slots: 2, queues: [ESCALATION_QUEUE] }, ...settings.lanes } }),
    handlers,
    middleware,
    concurrency,
    ...(queues && { queues: delivery === undefined ? queues : [...queues, ESCALATION_QUEUE] }),
    gracePeriod: grace,
    lease: { ...settings.lease, ...lease },
    overload: { ...settings.overload, ...overload },
    ...(deadLetterAlertAt && { deadLetterAlertAt }),
    ...(alerts && { alerts }),
  }
}

/** Why the worker cannot work right now, or undefined. */
export function obstacleOf(worker: Worker | undefined): string | undefined {
  return worker?.isReady === false ? "the worker's lease is in doubt: it was not renewed in time" : undefined
}

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
