// Every background service that keeps the tables in order, each in a loop of its own. All worker processes run all of
// them: row locks, fences and idempotent steps make that harmless.

import { AlertEvaluator } from '../alerts/evaluator.ts'
import type { AlertRules } from '../alerts/options.ts'
import { DeadLetters } from '../client/dead-letters.ts'
import type { Enqueuer } from '../client/enqueuer.ts'
import type { Herald } from '../client/herald.ts'
import type { JobManager } from '../client/manage.ts'
import { ScheduleTicks } from '../client/schedule-ticks.ts'
import type { Waker } from '../client/waker.ts'
import type { Clock } from '../clock.ts'
import type { LetterRetention } from '../contract/letter-retention.ts'
import type { Registry } from '../contract/registry.ts'
import type { Events } from '../events.ts'
import type { Admitter } from '../governance/admitter.ts'
import type { Logger } from '../logger.ts'
import type { DeclaredSchedules } from '../schedule/schedules.ts'
import type { Database } from '../store/db.ts'
import type { Advancer } from '../workflow/advancer.ts'
import { AdmissionSweep } from './admission-sweep.ts'
import { AlertWatch } from './alert-watch.ts'
import { Booster } from './booster.ts'
import { Housekeeper } from './housekeeper.ts'
import { Loop, type LoopOptions, type Ticker } from './loop.ts'
import type { MetricFlush } from './metric-flush.ts'
import { MetricRollUp } from './metric-roll-up.ts'
import { Redriver } from './redriver.ts'
import { Rescuer } from './rescuer.ts'
import { Scheduler } from './scheduler.ts'
import { SystemJobs } from './system-jobs.ts'
import { TableKeeper } from './table-keeper.ts'
import { WorkflowSweep } from './workflow-sweep.ts'

export interface MaintenanceServices extends Pick<LoopOptions, 'onError'> {
  db: Database
  clock: Clock
  registry: Registry
  events: Events
  admitter: Admitter
  advancer: Advancer
  logger: Logger
  enqueuer: Enqueuer
  declared: DeclaredSchedules
  /** Job types that it has handlers for. */
  types: readonly string[]
  sweepMs: number
  alerts: AlertRules
  letterRetention: LetterRetention | null
  mayJudge(): boolean
  /** Notifications arrive. */
  isTold(): boolean
  backloggedQueues(): readonly string[]
  wake(queues: Iterable<string>): void
  metrics: MetricFlush
  waker: Waker
  herald: Herald
  jobs: JobManager
  workerId(): string
  mayClaim(): boolean
  /** More connections to the same database. */
  open(maxConnections: number): Database
}

export interface MaintenanceLoops {
  all: Loop<unknown>[]
  /** To be woken when schedules are changed. */
  scheduler: Loop<unknown>
  /** To be woken when a job of Millrace itself was enqueued. */
  system: Loop<unknown>
  isSystemRun(runId: string): boolean
}

export function maintenanceLoops(services: MaintenanceServices): MaintenanceLoops {
  const { db, admitter, advancer, onError } = services
  const loop = <Result>(ticker: Ticker<Result>): Loop<unknown> => new Loop(ticker, { onError })
  const scheduler: Loop<unknown> = loop(
    new Scheduler({ ...services, ticks: new ScheduleTicks(services), onLate: () => scheduler.wake() }),
  )
  const systemJobs = new SystemJobs({ ...services, deadLetters: new DeadLetters(services) })
  const system = loop(systemJobs)
  const all = [
    loop(
      new Rescuer({
        ...services,
        intervalMs: services.sweepMs,
        onBlocked: () => admitter.expectBlocked(),
        onStepsEnded: (workflowIds) => void advancer.heard(workflowIds),
      }),
    ),
    loop(new AdmissionSweep(admitter)),
    loop(new Housekeeper(services)),
    loop(new Redriver(services)),
    loop(new TableKeeper(services)),
    loop(new AlertWatch({ db, rules: services.alerts, evaluator: new AlertEvaluator(services) })),
    loop(new Booster(services)),
    scheduler,
    system,
    loop(new WorkflowSweep(advancer)),
    loop(services.metrics),
    loop(new MetricRollUp(services)),
  ]
  return { all, scheduler, system, isSystemRun: (runId) => systemJobs.isOpen(runId) }
}
