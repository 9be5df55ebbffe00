// Where a budget stands: what the database says, what the program's own table says if there is one, and what follows.
import type { Now } from '../clock.ts'
import type { Budget, BudgetLevel } from '../contract/budget.ts'
import { BudgetExceeded } from '../errors.ts'
import { type BudgetRow, budgetLook } from '../store/budgets.ts'
import type { Database, Session } from '../store/db.ts'
import { Transaction } from '../store/transaction.ts'
import { levelOf, percentOf, remainingOf } from './budget-level.ts'
import { type OwnTable, readSource } from './budget-source.ts'

export interface BudgetStatus {
  readonly budget: string
  readonly unit: string
  readonly per: 'month' | 'day'
  readonly timeZone: string
  /** '2026-11', or '2026-11-15'. */
  readonly period: string
  readonly startsAt: Date
  /** When the next period begins, with nothing spent. */
  readonly endsAt: Date
  readonly level: BudgetLevel
  readonly spent: number
  /** Kept for runs that are under way. */
  readonly reserved: number
  /** Spent and reserved. */
  readonly used: number
  readonly limit: number
  /** Who says so: a setting for this period, one from then on, the program's own table, or the code. */
  readonly limitFrom: 'period' | 'setting' | 'source' | 'code'
  readonly remaining: number
  /** Of the limit, rounded down. */
  readonly percent: number
  /** When a job is tried again that has to wait: the next full hour. */
  readonly retryAt: Date
  readonly retryInMs: number
  /** The highest threshold that was reached and noted. */
  readonly notified: number
  /** Some threshold was reached of which no listener has been told yet. */
  readonly isUntold: boolean
  /** Of a budget that is kept in a table of a program's own. Null: it is not. */
  readonly source: BudgetSourceReading | null
}

export interface BudgetSourceReading {
  /** When that table was read: now, or by another program. Null: not in this period, so nothing is known to be spent. */
  readonly readAt: Date | null
  /** That the table has; null: none. */
  readonly limit: number | null
}

export async function budgetStatuses(
  db: Session,
  now: Now,
  budgets: readonly Budget[],
  period: string | null = null,
): Promise<BudgetStatus[]> {
  if (budgets.length === 0) return []
  if (budgets.every(({ source }) => source === undefined)) {
    const rows = await budgetLook(db, now, budgets, period)
    return rows.map((row, i) => statusOf(budgets[i] as Budget, row, undefined))
  }
  return inTransaction(db, async (tx) => {
    const rows = await budgetLook(tx, now, budgets, period)
    const statuses: BudgetStatus[] = []
    for (const [i, row] of rows.entries()) {
      const budget = budgets[i] as Budget
      const own = await readSource(budget, tx, row)
      statuses.push(statusOf(budget, row, own && { ...own, readAt: row.at }))
    }
    return statuses
  })
}

export async function budgetStatus(
  db: Session,
  now: Now,
  budget: Budget,
  period: string | null = null,
): Promise<BudgetStatus> {
  const [status] = await budgetStatuses(db, now, [budget], period)
  return status as BudgetStatus
}

/** The error with which a run ends that this budget does not let go on. `amount`: null, if it may not even begin. */
export function refusal(
  status: BudgetStatus,
  level: 'QUEUE' | 'HARD_STOP',
  amount: number | null = null,
): BudgetExceeded {
  const { budget, unit, period, used, limit, retryAt, retryInMs } = status
  return new BudgetExceeded({ budget, unit, period, used, limit, level, amount, retryAt, retryInMs })
}

/** A program's own table is read by its own SQL, and that needs a transaction. */
function inTransaction<Result>(db: Session, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  return db instanceof Transaction ? work(db) : (db as Database).transaction(work)
}

function statusOf(budget: Budget, row: BudgetRow, read: ReadTable | undefined): BudgetStatus {
  const own = budget.isForeign ? readElsewhere(row) : read
  const { spent } = own ?? row
  const { limit, limitFrom } = limitOf(row, own?.limit ?? null)
  return {
    budget: budget.name,
    unit: budget.unit,
    per: row.per,
    timeZone: row.timeZone,
    period: row.period,
    startsAt: row.startsAt,
    endsAt: row.endsAt,
    ...standing({ spent, reserved: row.reserved, limit }),
    limitFrom,
    retryAt: row.nextHourAt,
    retryInMs: row.nextHourAt.getTime() - row.at.getTime(),
    notified: row.notified,
    isUntold: row.isUntold,
    source: own === undefined ? null : { readAt: own.readAt, limit: own.limit ?? null },
  }
}

type ReadTable = OwnTable & { readonly readAt: Date | null }

function readElsewhere({ reading }: BudgetRow): ReadTable {
  if (reading === null) return { spent: 0, readAt: null }
  return { spent: reading.spent, limit: reading.limit, readAt: reading.at }
}

/** As it stands once so much more is reserved. */
export function withReserved(status: BudgetStatus, amount: number): BudgetStatus {
  const { spent, reserved, limit } = status
  return { ...status, ...standing({ spent, reserved: reserved + amount, limit }) }
}

function standing(amounts: Pick<BudgetStatus, 'spent' | 'reserved' | 'limit'>) {
  return {
    ...amounts,
    used: amounts.spent + amounts.reserved,
    level: levelOf(amounts),
    remaining: remainingOf(amounts),
    percent: percentOf(amounts),
  }
}

function limitOf(row: BudgetRow, own: number | null): Pick<BudgetStatus, 'limit' | 'limitFrom'> {
  if (row.periodLimit !== null) return { limit: row.periodLimit, limitFrom: 'period' }
  if (row.limitOverride !== null) return { limit: row.limitOverride, limitFrom: 'setting' }
  return own === null ? { limit: row.declaredLimit, limitFrom: 'code' } : { limit: own, limitFrom: 'source' }
}
