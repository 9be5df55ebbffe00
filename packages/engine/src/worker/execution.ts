// How the handlers of this worker are called: in this process or in one of their own, on whose budget, and with what their
// context can do.
import type { Enqueuer } from '../client/enqueuer.ts'
import type { Clock } from '../clock.ts'
import type { Events } from '../events.ts'
import type { Breakers } from '../governance/breakers.ts'
import { Budgets } from '../governance/budgets.ts'
import type { Governor } from '../governance/governor.ts'
import type { Logger } from '../logger.ts'
import type { Database } from '../store/db.ts'
import { breakerDoor } from './breaker-door.ts'
import type { Implementation } from './context.ts'
import { Effects, recordVault } from './effects.ts'
import { Executor, type ExecutorServices } from './executor.ts'
import { handlerEnqueuer } from './handler-enqueuer.ts'
import { IsolatedPools } from './isolation/pools.ts'
import type { Run } from './run.ts'
import { RunBudgets } from './run-budgets.ts'
import { startOf } from './settled-events.ts'
import { settlementOfValue } from './verdict.ts'
import type { WorkerSettings } from './work-options.ts'

/** What the worker does as its runs go on. */
export type RunSteps = Pick<
  ExecutorServices,
  'mayStart' | 'settle' | 'onProgress' | 'onReturned' | 'onCommitted' | 'onLeaked'
>

export interface ExecutionServices {
  handlerDb: Database
  budgetDb: Database
  clock: Clock
  events: Events
  logger: Logger
  breakers: Breakers
  governor: Governor
  enqueuer: Enqueuer
  onError(during: string, error: unknown): void
}

export class Execution {
  readonly executor: Executor
  readonly isolated: IsolatedPools
  readonly budgets: RunBudgets

  constructor(settings: WorkerSettings, services: ExecutionServices, steps: RunSteps) {
    this.isolated = new IsolatedPools({ ...settings, schema: services.handlerDb.schema }, services)
    this.budgets = runBudgets(services)
    this.executor = this.#makeExecutor(settings, services, steps)
  }

  #makeExecutor(settings: WorkerSettings, services: ExecutionServices, steps: RunSteps): Executor {
    const { breakers, clock, enqueuer, events, governor, handlerDb, logger, onError } = services
    const implementations = new Map(settings.implementations.map((each) => [each.contract.type, each]))
    const effects = new Effects<Run>({
      db: handlerDb,
      clock,
      logger,
      tenantRole: settings.tenantRole,
      settlementOf: (run, value) => settlementOfValue(run, value, null),
      vault: recordVault,
    })
    const { completion } = effects
    return new Executor({
      ...steps,
      clock,
      logger,
      enqueuer: handlerEnqueuer(enqueuer, handlerDb.schema),
      implementation: (type) => implementations.get(type) as Implementation,
      around: settings.around,
      traces: settings.traces,
      isolatedHandler: (run) => this.isolated.handlerFor(run),
      admit: (run) => this.budgets.admit(run),
      budgetPort: (run) => this.budgets.port(run),
      completeInOwnTransaction: (run, work) => completion.inOwnTransaction(run, work),
      completeIn: (run, tx, result) => completion.in(run, tx, result),
      breakerDoor: (run, service) => breakerDoor(breakers, run, service),
      once: (run, context, call) => effects.once(run, context, call),
      step: (run, context, call) => effects.step(run, context, call),
      tenantDb: (run, context, call) => effects.tenantDb(run, context, call),
      isCompleted: (run) => completion.wasSettled(run),
      onStarted: (run) => events.has('job_started') && events.emit('job_started', startOf(run)),
      onPostponed: (run, why) => {
        const held = governor.hold(run.contract, run.job.tenant, why)
        held.catch((error: unknown) => onError('hold a limit', error))
      },
    })
  }
}

function runBudgets({ budgetDb: db, clock, events, logger, onError }: ExecutionServices): RunBudgets {
  const budgets = new Budgets({
    db,
    clock,
    onThreshold: (threshold, budget) => {
      events.emit('budget_threshold', { threshold, budget })
      logger.warn({ threshold, ...budget }, 'a budget has reached a threshold')
    },
    onError,
  })
  return new RunBudgets({ budgets, onError })
}
