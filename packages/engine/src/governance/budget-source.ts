// Budgets whose spending is kept in a table of the program's own.
import type { Budget, BudgetPeriod, BudgetSpending } from '../contract/budget.ts'
import { BudgetSourceFailed, InvalidDefinition } from '../errors.ts'
import type { Queryable } from '../store/statements.ts'

export interface OwnTable {
  spent: number
  limit?: number | null
}

/** Undefined: the budget has no table but ours. */
export async function readSource(budget: Budget, tx: Queryable, period: BudgetPeriod): Promise<OwnTable | undefined> {
  const { source } = budget
  if (source === undefined) return undefined
  return checked(budget, await asked(budget, tx, (watched) => source.read(watched, period)))
}

export async function addToSource(
  budget: Budget,
  tx: Queryable,
  period: BudgetPeriod,
  spending: BudgetSpending,
): Promise<void> {
  const { source } = budget
  if (source !== undefined) await asked(budget, tx, (watched) => source.add(watched, period, spending))
}

/** What the database says reaches the caller as it is; a mistake in the source's own code must not look like that. */
async function asked<Result>(
  { name }: Budget,
  tx: Queryable,
  ask: (tx: Queryable) => Promise<Result>,
): Promise<Result> {
  const fromDatabase = new Set<unknown>()
  const query: Queryable['query'] = (text, values) =>
    tx.query(text, values).catch((error: unknown) => {
      fromDatabase.add(error)
      throw error
    })
  try {
    return await ask({ query })
  } catch (error) {
    throw fromDatabase.has(error) ? error : new BudgetSourceFailed(name, error)
  }
}

/** A sum that comes as text would be joined, not added. */
function checked({ name }: Budget, own: OwnTable): OwnTable {
  const wrong = [own?.spent, own?.limit ?? 0].findIndex((value) => !Number.isSafeInteger(value) || Number(value) < 0)
  if (wrong === -1) return own
  throw new InvalidDefinition(
    `The source of budget "${name}" read ${JSON.stringify(own)}: expected { spent, limit } as whole numbers from 0. Convert what the driver returns with Number(…).`,
  )
}
