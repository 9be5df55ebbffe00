// ctx.budget: where the run's budget stands, and how the run reserves and spends.
import { randomUUID } from 'node:crypto'
import type { BudgetLevel } from '../contract/budget.ts'
import { InvalidDefinition } from '../errors.ts'
import type { BudgetStatus } from '../governance/budget-status.ts'
import type { Spending } from '../governance/budgets.ts'
import type { Queryable } from '../store/statements.ts'

export interface SpendOptions {
  /**
   * Count it in this transaction, so that it is counted exactly if that commits. Everybody else who spends of the budget
   * waits until it has ended: spend last. Not for isolated handlers.
   */
  tx?: Queryable
  /** How many calls of the service that was, for the usage. Default 1. */
  calls?: number
  /** For the `add` of the budget's source. */
  details?: Readonly<Record<string, unknown>>
}

/** An amount that is kept for this run until it is spent or released, or the run ends. */
export interface Reservation {
  readonly amount: number
  /** What it has really cost, be it more or less. The rest is free again. */
  spend(actual: number, options?: SpendOptions): Promise<void>
  release(): Promise<void>
}

/** As it stood when the run began, or at its last call here. */
export interface RunBudget {
  readonly name: string
  readonly unit: string
  /** '2026-11', or '2026-11-15'. */
  readonly period: string
  readonly level: BudgetLevel
  /** Spent, or reserved for runs that are under way. */
  readonly used: number
  readonly limit: number
  readonly remaining: number
  /** Looks again: between two batches, for example. */
  refresh(): Promise<BudgetStatus>
  /**
   * Keeps an amount, so that runs side by side cannot exceed the limit together. Throws BudgetExceeded if it does not
   * fit; thrown on, that makes the job wait or ends it.
   */
  reserve(amount: number): Promise<Reservation>
  /** Counts what was spent without a reservation, beyond the limit too. */
  spend(amount: number, options?: SpendOptions): Promise<void>
}

/** Where the calls of a run go: to the database, or to the worker that has it. */
export interface BudgetPort {
  look(): Promise<BudgetStatus>
  reserve(reservation: { id: string; amount: number }): Promise<BudgetStatus>
  spend(spending: Spending, tx: Queryable | undefined): Promise<BudgetStatus>
  release(id: string): Promise<void>
}

/** For a run whose budget cannot be used: it says why when it is asked for. */
export const noBudget = (type: string): InvalidDefinition =>
  new InvalidDefinition(
    `Job "${type}" is charged to no budget, so ctx.budget is not there. Name one in its contract: defineJob({ budget }).`,
  )

export class PortedBudget implements RunBudget {
  readonly #port: BudgetPort
  #status: BudgetStatus

  constructor(port: BudgetPort, status: BudgetStatus) {
    this.#port = port
    this.#status = status
  }

  get name(): string {
    return this.#status.budget
  }
  get unit(): string {
    return this.#status.unit
  }
  get period(): string {
    return this.#status.period
  }
  get level(): BudgetLevel {
    return this.#status.level
  }
  get used(): number {
    return this.#status.used
  }
  get limit(): number {
    return this.#status.limit
  }
  get remaining(): number {
    return this.#status.remaining
  }

  async refresh(): Promise<BudgetStatus> {
    this.#status = await this.#port.look()
    return this.#status
  }

  async reserve(amount: number): Promise<Reservation> {
    const id = randomUUID()
    const reserved = await this.#port.reserve({ id, amount })
    this.#status = reserved
    let isOpen = true
    return {
      amount,
      spend: async (actual, options) => {
        if (!isOpen) throw new InvalidDefinition('This reservation was spent or released before: reserve again.')
        isOpen = false
        try {
          await this.#spend({ id, period: reserved.period, amount: actual }, options)
        } catch (error) {
          isOpen = true
          throw error
        }
      },
      release: async () => {
        if (!isOpen) return
        isOpen = false
        await this.#port.release(id)
      },
    }
  }

  spend(amount: number, options?: SpendOptions): Promise<void> {
    return this.#spend({ id: randomUUID(), period: null, amount }, options)
  }

  async #spend(
    what: Pick<Spending, 'id' | 'period' | 'amount'>,
    { tx, calls = 1, details = {} }: SpendOptions = {},
  ): Promise<void> {
    const status = await this.#port.spend({ ...what, calls, details }, tx)
    // A reservation of last month is spent last month.
    if (status.startsAt >= this.#status.startsAt) this.#status = status
  }
}
