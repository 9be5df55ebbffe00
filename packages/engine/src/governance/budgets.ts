// Reserving, spending and telling: what budgets do besides being looked at.
//
// Whatever must be exact happens under the lock of the period's row, in a short transaction of its own. A spend whose
// reply was lost is said again and counted once. A threshold is written down in the transaction that reaches it. Listeners
// hear of it from the process that has taken that row; if it dies before it speaks, the next one that looks tells them.
import { type Clock, monotonicMs } from '../clock.ts'
import { type Budget, checkAmount } from '../contract/budget.ts'
import { type BudgetRefusal, LeaseLost } from '../errors.ts'
import { isTransient } from '../sql-state.ts'
import { auditWrite } from '../store/audit.ts'
import {
  type BudgetRow,
  budgetHold,
  budgetLimit,
  budgetLook,
  budgetNoticeTake,
  budgetNoticeTold,
  budgetNotified,
  budgetPeriodLimit,
  budgetPeriodLock,
  budgetReading,
  budgetRelease,
  budgetReserve,
  budgetResume,
  budgetSpend,
} from '../store/budgets.ts'
import { type Database, isConnectionFailure, type Session } from '../store/db.ts'
import type { KeyedRow } from '../store/job-changes.ts'
import type { Queryable } from '../store/statements.ts'
import { CommitUnknown, sessionOn, type Transaction } from '../store/transaction.ts'
import { newThresholds, reachedThreshold, refusalLevel } from './budget-level.ts'
import { addToSource } from './budget-source.ts'
import { type BudgetStatus, budgetStatus, refusal, withReserved } from './budget-status.ts'

/** Who spends. */
export interface BudgetRun {
  readonly fence: { readonly id: string; readonly runId: string }
  readonly job: { readonly type: string; readonly createdBy: string | null }
}

export interface Spending {
  /** A uuid; that of the reservation, if there was one. */
  readonly id: string
  /** The one of the reservation; null: the one that now is in. */
  readonly period: string | null
  readonly amount: number
  readonly calls: number
  readonly details: Readonly<Record<string, unknown>>
}

export interface Adjustment {
  /** Null: what the code says counts again. */
  readonly limit: number | null
  /** Only for this period; null: from now on. */
  readonly period: string | null
  readonly by: string
}

export interface BudgetServices {
  db: Database
  clock: Clock
  onThreshold(threshold: number, status: BudgetStatus): void
  onError(during: string, error: unknown): void
}

/** So often a run that starts writes down what a source says. */
const READING_MS = 10_000
const RESUMED_AT_ONCE = 1_000
const REPEAT_AFTER_MS = [100, 300, 1_000, 3_000]

export class Budgets {
  readonly #services: BudgetServices
  readonly #db: Database
  /** When the reading of each budget was written. */
  readonly #writtenMs = new Map<string, number>()

  constructor(services: BudgetServices) {
    this.#services = services
    this.#db = services.db
  }

  /** Where it stands, for a job that is about to start: throws BudgetExceeded if it has to wait or to end. */
  async admit(budget: Budget): Promise<BudgetStatus> {
    const status = await this.look(budget)
    if (status.level === 'QUEUE' || status.level === 'HARD_STOP') throw refusal(status, status.level)
    return status
  }

  async look(budget: Budget): Promise<BudgetStatus> {
    const status = await budgetStatus(this.#db, this.#now(), budget)
    await this.#tell(budget, status)
    if (monotonicMs() >= (this.#writtenMs.get(budget.name) ?? 0) + READING_MS) await this.#write(budget, status)
    return status
  }

  /** Throws BudgetExceeded when it does not fit, and LeaseLost when the run no longer owns its job. */
  async reserve(
    budget: Budget,
    run: BudgetRun,
    { id, amount }: Pick<Spending, 'id' | 'amount'>,
  ): Promise<BudgetStatus> {
    checkAmount(amount, 'reserve(amount)')
    return this.#db.transaction(async (tx) => {
      const period = await this.#lock(tx, budget, null)
      const status = await budgetStatus(tx, this.#now(), budget, period)
      if (amount > status.remaining) throw refusal(status, refusalLevel(status, amount), amount)
      const isOurs = await budgetReserve(tx, this.#now(), run.fence, { id, budget: budget.name, period, amount })
      if (!isOurs) throw new LeaseLost('another run has taken over, so nothing is reserved for it')
      return withReserved(status, amount)
    })
  }

  /** Counts what was spent, beyond the limit too: it is gone. In `tx`, or in a transaction of its own. */
  async spend(budget: Budget, run: BudgetRun, spending: Spending, tx?: Queryable): Promise<BudgetStatus> {
    checkAmount(spending.amount, 'spend(amount)')
    checkAmount(spending.calls, 'calls')
    if (tx !== undefined) return this.#spendIn(sessionOn(tx, this.#db.schema), budget, run, spending)
    const status = await repeated(() => this.#db.transaction((own) => this.#spendIn(own, budget, run, spending)))
    await this.#tell(budget, status)
    await this.#write(budget, status)
    return status
  }

  async release(run: BudgetRun, reservation: string): Promise<void> {
    await budgetRelease(this.#db, run.fence, reservation)
  }

  /** The run was refused, and its job will wait: a raise of the limit makes it due. Without the note it is due at the full hour. */
  async hold(run: BudgetRun, { budget, level, retryAt }: BudgetRefusal): Promise<void> {
    if (level !== 'QUEUE') return
    await budgetHold(this.#db, run.fence, { budget, until: retryAt }).catch((error: unknown) =>
      this.#services.onError('note that a job waits for its budget', error),
    )
  }

  /**
   * Makes the jobs due that wait for a budget, if it lets them run, and answers with them. Never fails: jobs that could not be
   * made due look again at the full hour.
   */
  async resume(budget: Budget): Promise<KeyedRow[]> {
    const due: KeyedRow[] = []
    try {
      const { level } = await budgetStatus(this.#db, this.#now(), budget)
      for (let isMore = level !== 'QUEUE' && level !== 'HARD_STOP'; isMore; ) {
        const some = await budgetResume(this.#db, this.#now(), budget.name, RESUMED_AT_ONCE)
        due.push(...some.due)
        isMore = some.freed === RESUMED_AT_ONCE
      }
    } catch (error) {
      this.#services.onError('make jobs due that wait for a budget', error)
    }
    return due
  }

  /** The run has ended: nothing is reserved for it any more. */
  async endRun(run: BudgetRun): Promise<void> {
    await budgetRelease(this.#db, run.fence, null)
  }

  async adjust(budget: Budget, { limit, period, by }: Adjustment): Promise<BudgetStatus> {
    const now = this.#now()
    const status = await this.#db.transaction(async (tx) => {
      const locked = await this.#lock(tx, budget, period)
      const before = await budgetStatus(tx, now, budget, locked)
      // From now on means now too: a limit that was set for this period only would stand before it.
      await budgetPeriodLimit(tx, { budget: budget.name, period: locked }, period === null ? null : limit)
      if (period === null)
        await budgetLimit(tx, now, { ...budget, hasSource: budget.source !== undefined || budget.isForeign }, limit)
      const after = await budgetStatus(tx, now, budget, locked)
      const details = { from: before.limit, to: after.limit, limitFrom: after.limitFrom, period }
      await auditWrite(tx, now, { by, action: 'budget.adjust', target: budget.name, details })
      return this.#noted(tx, after)
    })
    await this.#tell(budget, status)
    return status
  }

  async #spendIn(tx: Transaction, budget: Budget, run: BudgetRun, spending: Spending): Promise<BudgetStatus> {
    const now = this.#now()
    const [row] = (await budgetLook(tx, now, [budget], spending.period)) as [BudgetRow]
    const { id, amount, calls, details } = spending
    const { type, createdBy } = run.job
    const charge = { id, budget: budget.name, period: row.period, amount, calls, type, createdBy }
    const isNew = await budgetSpend(tx, now, run.fence, charge)
    if (isNew) await addToSource(budget, tx, row, { amount, calls, type, createdBy, details })
    const status = await budgetStatus(tx, now, budget, row.period)
    // What counts locks the row of the period.
    return isNew ? this.#noted(tx, status) : status
  }

  /** The key of the period, whose row is ours until the transaction ends. */
  async #lock(tx: Session, budget: Budget, wanted: string | null): Promise<string> {
    const [row] = (await budgetLook(tx, this.#now(), [budget], wanted)) as [BudgetRow]
    await budgetPeriodLock(tx, this.#now(), { budget: budget.name, period: row.period })
    return row.period
  }

  /** Mostly there is nothing to tell, and this costs nothing. After a raise the lower thresholds are armed again. */
  async #tell(budget: Budget, seen: BudgetStatus): Promise<void> {
    const isNoted = reachedThreshold(seen) === seen.notified
    if (isNoted && !seen.isUntold) return
    try {
      if (!isNoted) await this.#db.transaction((tx) => this.#notify(tx, budget, seen.period))
      await this.#tellNotices(budget)
    } catch (error) {
      // The next look tells it. What was asked for is done, and must not fail because of this.
      this.#services.onError('tell the threshold of a budget', error)
    }
  }

  /** For those that cannot read a source themselves. In no caller's transaction: it may be long, or be rolled back. */
  async #write(budget: Budget, { period, spent, source }: BudgetStatus): Promise<void> {
    if (budget.source === undefined || source === null || source.readAt === null) return
    this.#writtenMs.set(budget.name, monotonicMs())
    try {
      await budgetReading(this.#db, { budget: budget.name, period }, { spent, limit: source.limit, at: source.readAt })
    } catch (error) {
      this.#services.onError('write down what a budget source says', error)
    }
  }

  async #tellNotices(budget: Budget): Promise<void> {
    const notices = await budgetNoticeTake(this.#db, budget.name)
    if (notices.length === 0) return
    for (const { period, threshold } of notices) {
      const status = await budgetStatus(this.#db, this.#now(), budget, period)
      this.#services.onThreshold(threshold, status)
    }
    await budgetNoticeTold(
      this.#db,
      this.#now(),
      notices.map(({ id }) => id),
    )
  }

  /** Spent or limited elsewhere: by SQL, or in the program's own table. */
  async #notify(tx: Session, budget: Budget, wanted: string): Promise<void> {
    const period = await this.#lock(tx, budget, wanted)
    await this.#noted(tx, await budgetStatus(tx, this.#now(), budget, period))
  }

  /** Writes down which thresholds are reached. The row of the period is locked. */
  async #noted(tx: Session, status: BudgetStatus): Promise<BudgetStatus> {
    const { budget, period, spent, limit } = status
    const threshold = reachedThreshold(status)
    if (threshold === status.notified) return status
    const thresholds = newThresholds(status.notified, threshold)
    await budgetNotified(tx, this.#now(), { budget, period, threshold, thresholds, spent, limit })
    return { ...status, notified: threshold, isUntold: status.isUntold || thresholds.length > 0 }
  }

  #now(): Date | null {
    return this.#services.clock.databaseNow()
  }
}

/** What was spent is spent: a database that is away for a moment must not lose it. Only for what is counted once. */
async function repeated<Result>(work: () => Promise<Result>): Promise<Result> {
  for (const delayMs of REPEAT_AFTER_MS) {
    try {
      return await work()
    } catch (error) {
      if (!isPassing(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, delayMs))
    }
  }
  return work()
}

/** The database could not be asked, or did not answer. */
export const isPassing = (error: unknown): boolean =>
  error instanceof CommitUnknown || isConnectionFailure(error) || isTransient(error)
