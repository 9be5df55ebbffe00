// Runs claimed jobs one at a time in the caller's process: what a worker does between claim and settlement, by the same
// parts (executor, verdict, completion, acker), without its loops, its lease thread and its slots.

import type { ClientServices } from '../client-services.ts'
import { keysWithRoom } from '../governance/admitter.ts'
import type { Breakers } from '../governance/breakers.ts'
import type { BudgetStatus } from '../governance/budget-status.ts'
import { Budgets } from '../governance/budgets.ts'
import { ensurePartitions } from '../store/partitions.ts'
import { endsStep } from '../store/settlements.ts'
import { Acker, type Entry, type SettleResult } from '../worker/acker.ts'
import { breakerDoor } from '../worker/breaker-door.ts'
import type { Implementation } from '../worker/context.ts'
import { Effects, recordVault } from '../worker/effects.ts'
import { Executor, type ExecutorServices } from '../worker/executor.ts'
import { handlerEnqueuer } from '../worker/handler-enqueuer.ts'
import type { Run } from '../worker/run.ts'
import { RunBudgets } from '../worker/run-budgets.ts'
import { reportSettled, startOf } from '../worker/settled-events.ts'
import { settlementOfValue } from '../worker/verdict.ts'
import { isolatedInline } from './isolated-inline.ts'
import { LogCollector, type RunReport, reportOf } from './report.ts'

export class InlineRunner {
  readonly #services: ClientServices
  readonly #handlers: Map<string, Implementation>
  readonly #breakers: Breakers
  readonly #logger: LogCollector
  readonly #acker: Acker
  readonly #executor: Executor
  /** What a run leaves to be put in order, when its handler has returned. */
  #ended: Promise<void> | undefined
  readonly #unsettled = new Map<Run, (report: RunReport) => void>()

  constructor(services: ClientServices, handlers: readonly Implementation[], breakers: Breakers) {
    this.#services = services
    this.#breakers = breakers
    this.#handlers = new Map(handlers.map((each) => [each.contract.type, each]))
    this.#logger = new LogCollector(services.logger)
    this.#acker = this.#makeAcker()
    this.#executor = new Executor(this.#executorServices())
  }

  /** Calls the handler and resolves when the outcome is written; a handler that ignores its abort is left behind. */
  async run(run: Run): Promise<RunReport> {
    this.#logger.lines = []
    const settled = new Promise<RunReport>((resolve) => this.#unsettled.set(run, resolve))
    const report = await keptAlive(settled, () => this.#executor.execute(run))
    await this.#ended
    return report
  }

  #makeAcker(): Acker {
    const { db, clock, events, advancer } = this.#services
    return new Acker({
      db,
      clock,
      isTrusted: () => true,
      ensurePartitions: async () => void (await ensurePartitions(db, clock.databaseNow())),
      settleStep: (settlement, onAdvanced) => advancer.settleStep(db, settlement, onAdvanced),
      onSettled: (entry, result) => void this.#settled(entry, result),
      onDue: () => {},
      onStepsEnded: () => {},
      onFlushed: () => {},
      onError: (during, error) => events.emit('database_error', { during, error }),
    })
  }

  #makeBudgets(): RunBudgets {
    const { db, clock, events } = this.#services
    const onError = (during: string, error: unknown) => events.emit('database_error', { during, error })
    const onThreshold = (threshold: number, budget: BudgetStatus) =>
      events.emit('budget_threshold', { threshold, budget })
    return new RunBudgets({ budgets: new Budgets({ db, clock, onThreshold, onError }), onError })
  }

  #executorServices(): ExecutorServices {
    const { db, clock, enqueuer, events, tenantRole } = this.#services
    const budgets = this.#makeBudgets()
    const effects = new Effects<Run>({
      db,
      clock,
      logger: this.#logger,
      tenantRole,
      settlementOf: (run, value) => settlementOfValue(run, value, null),
      vault: recordVault,
    })
    const { completion } = effects
    return {
      clock,
      traces: 'link',
      logger: this.#logger,
      enqueuer: handlerEnqueuer(enqueuer, db.schema),
      implementation: (type) => this.#handlers.get(type) as Implementation,
      isolatedHandler: (run) => isolatedInline(this.#handlers.get(run.job.type) as Implementation),
      onProgress: (run, progress) => events.emit('job_progress', { job: run.ref(), progress }),
      mayStart: () => true,
      admit: (run) => budgets.admit(run),
      budgetPort: (run) => budgets.port(run),
      settle: (run, settlement) => this.#acker.add(run, settlement),
      completeInOwnTransaction: (run, work) => completion.inOwnTransaction(run, work),
      completeIn: (run, tx, result) => completion.in(run, tx, result),
      breakerDoor: (run, service) => breakerDoor(this.#breakers, run, service),
      once: (run, context, call) => effects.once(run, context, call),
      step: (run, context, call) => effects.step(run, context, call),
      tenantDb: (run, context, call) => effects.tenantDb(run, context, call),
      isCompleted: (run) => completion.wasSettled(run),
      onStarted: (run) => events.emit('job_started', startOf(run)),
      onReturned: (run) => {
        this.#ended = budgets.end(run)
      },
      onCommitted: (run) => run.inTransaction && void this.#settled({ run, settlement: run.inTransaction }, 'won'),
      onLeaked: (run) => events.emit('slot_leaked', { job: run.ref() }),
      onPostponed: () => {},
    }
  }

  async #settled(entry: Entry, result: SettleResult): Promise<void> {
    const { run, settlement } = entry
    reportSettled(this.#services.events, entry, result)
    if (result === 'won') await this.#services.admitter.admit(keysWithRoom(run.job, settlement))
    if (result === 'won' && endsStep(settlement)) await this.#services.advancer.heard([run.job.workflowId as string])
    this.#unsettled.get(run)?.(reportOf(run, result === 'won' ? settlement : undefined, this.#logger.lines))
    this.#unsettled.delete(run)
  }
}

/** The engine's timers let a process end; a test that only waits for one of them must not. */
export async function keptAlive<Value>(awaited: Promise<Value>, start: () => void): Promise<Value> {
  const alive = setInterval(() => {}, 1_000_000)
  try {
    start()
    return await awaited
  } finally {
    clearInterval(alive)
  }
}
