// The budgets of the runs of one process: whether a run may start, what its ctx.budget does, what is left when it ends.
import { snooze } from '../contract/outcome.ts'
import { BudgetExceeded } from '../errors.ts'
import { type Budgets, isPassing } from '../governance/budgets.ts'
import type { Run } from './run.ts'
import type { BudgetPort } from './run-budget.ts'
import { noBudget } from './run-budget.ts'
import type { Ending } from './verdict.ts'

/** How long a job waits whose budget could not be looked at. */
const LOOK_AGAIN_MS = 5_000

export interface RunBudgetServices {
  budgets: Budgets
  onError(during: string, error: unknown): void
}

export class RunBudgets {
  readonly #services: RunBudgetServices
  readonly #endings = new Set<Promise<void>>()

  constructor(services: RunBudgetServices) {
    this.#services = services
  }

  /** Before the handler is called. Never rejects. Undefined: the run may start. */
  async admit(run: Run): Promise<Ending | undefined> {
    const { budget } = run.contract
    if (budget === undefined) return undefined
    try {
      run.budget = await this.#services.budgets.admit(budget)
      return undefined
    } catch (thrown) {
      if (thrown instanceof BudgetExceeded) await this.#services.budgets.hold(run, thrown)
      if (thrown instanceof BudgetExceeded || !isPassing(thrown)) return { thrown }
      // Nobody knows what is left: not the job's fault, so it keeps its attempt.
      this.#services.onError('look at a budget', thrown)
      return { value: snooze(LOOK_AGAIN_MS) }
    }
  }

  port(run: Run): BudgetPort {
    const { budget } = run.contract
    if (budget === undefined) throw noBudget(run.job.type)
    const { budgets } = this.#services
    return {
      look: () => budgets.look(budget),
      reserve: async (reservation) => {
        run.hasCharged = true
        try {
          return await budgets.reserve(budget, run, reservation)
        } catch (thrown) {
          if (thrown instanceof BudgetExceeded) await budgets.hold(run, thrown)
          throw thrown
        }
      },
      spend: (spending, tx) => {
        run.hasCharged = true
        run.hasUntold ||= tx !== undefined
        return budgets.spend(budget, run, spending, tx)
      },
      release: (id) => budgets.release(run, id),
    }
  }

  /** The handler has returned. What cannot be cleared away now no longer counts when the run is settled. */
  async end(run: Run): Promise<void> {
    if (!run.hasCharged) return
    const ending = this.#clear(run).catch((error: unknown) =>
      this.#services.onError('release what a run had reserved', error),
    )
    this.#endings.add(ending)
    await ending
    this.#endings.delete(ending)
  }

  /** Resolves when all that has ended is cleared away. */
  async idle(): Promise<void> {
    await Promise.all(this.#endings)
  }

  async #clear(run: Run): Promise<void> {
    const { budgets } = this.#services
    const { budget } = run.contract
    await budgets.endRun(run)
    if (run.hasUntold && budget !== undefined) await budgets.look(budget)
  }
}
