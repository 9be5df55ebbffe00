// What people do with budgets: look, see who spent what, set another limit.
import type { Clock } from '../clock.ts'
import { type Budget, checkLimit, checkPeriod } from '../contract/budget.ts'
import type { Registry } from '../contract/registry.ts'
import { UnknownBudget } from '../errors.ts'
import type { Events } from '../events.ts'
import type { Admitter } from '../governance/admitter.ts'
import { type BudgetStatus, budgetStatus, budgetStatuses } from '../governance/budget-status.ts'
import { Budgets } from '../governance/budgets.ts'
import { type BudgetUsage, budgetDeclared, budgetUsageList } from '../store/budgets.ts'
import type { Database } from '../store/db.ts'
import { jobKeyOf } from '../store/keyed-work.ts'
import { author } from './enqueue-options.ts'
import type { Waker } from './waker.ts'

export interface BudgetPeriodOption {
  /** '2026-11', or '2026-11-15'. Default: the current one. */
  period?: string
}

export interface AdjustOptions {
  /** Null takes away what was set: the code's limit counts again. */
  limit: number | null
  /** Who does it: written into the audit log. */
  by: string
  /** Only for this period, or for the one that is running. Default: from now on. */
  period?: string
}

const MOST_USAGE = 10_000

export class BudgetClient {
  readonly #db: Database
  readonly #clock: Clock
  readonly #registry: Registry
  readonly #waker: Waker
  readonly #admitter: Admitter
  readonly #budgets: Budgets

  constructor(services: {
    db: Database
    clock: Clock
    registry: Registry
    events: Events
    waker: Waker
    admitter: Admitter
  }) {
    const { db, clock, events } = services
    this.#waker = services.waker
    this.#admitter = services.admitter
    this.#db = db
    this.#clock = clock
    this.#registry = services.registry
    this.#budgets = new Budgets({
      db,
      clock,
      onThreshold: (threshold, budget) => events.emit('budget_threshold', { threshold, budget }),
      onError: (during, error) => events.emit('database_error', { during, error }),
    })
  }

  /**
   * Where each budget stands now, by name: those of this program's contracts, and those that other programs have declared
   * on this database. Of one that is kept in a table of another program, as that has last read it: see `source.readAt`.
   */
  async list(): Promise<BudgetStatus[]> {
    const known = await this.#known()
    return budgetStatuses(this.#db, this.#clock.databaseNow(), [...known.values()].sort(byName))
  }

  async get(name: string, options: BudgetPeriodOption = {}): Promise<BudgetStatus> {
    const budget = await this.#find(name)
    return budgetStatus(this.#db, this.#clock.databaseNow(), budget, this.#periodOf(budget, options))
  }

  /** Who spent how much in a period: by job type and by `createdBy` of the job, the largest amounts first. */
  async usage(name: string, options: BudgetPeriodOption = {}): Promise<BudgetUsage[]> {
    const { period } = await this.get(name, options)
    return budgetUsageList(this.#db, { budget: name, period }, MOST_USAGE)
  }

  /** Sets another limit, which counts at once. If it lets jobs run, those that wait for the budget are due at once. */
  async adjust(name: string, { limit, period, ...options }: AdjustOptions): Promise<BudgetStatus> {
    const by = author(options.by)
    const budget = await this.#find(name)
    if (limit !== null) checkLimit(limit, name)
    const only = period === 'current' ? (await this.get(name)).period : this.#periodOf(budget, { period })
    const status = await this.#budgets.adjust(budget, { limit, by, period: only })
    const due = await this.#budgets.resume(budget)
    this.#waker.wake(new Set(due.map(({ queue }) => queue)))
    await this.#admitter.admit(due.flatMap((job) => jobKeyOf(job) ?? []))
    return status
  }

  #periodOf(budget: Budget, { period }: { period?: string | undefined }): string | null {
    return period === undefined ? null : checkPeriod(period, budget)
  }

  async #find(name: string): Promise<Budget> {
    const own = this.#registry.findBudget(name)
    if (own !== undefined) return own
    const known = await this.#known()
    const budget = known.get(name)
    if (budget === undefined) throw new UnknownBudget(name, [...known.keys()])
    return budget
  }

  async #known(): Promise<Map<string, Budget>> {
    const known = new Map<string, Budget>()
    for (const { hasSource, ...budget } of await budgetDeclared(this.#db)) {
      known.set(budget.name, { ...budget, source: undefined, isForeign: hasSource })
    }
    for (const budget of this.#registry.budgets) known.set(budget.name, budget)
    return known
  }
}

const byName = (a: Budget, b: Budget): number => (a.name < b.name ? -1 : 1)
