// How far a budget is used up. Pure, and exact: whole numbers only.
import type { BudgetLevel } from '../contract/budget.ts'

/** Per cent of the limit at which listeners are told. */
export const THRESHOLDS = [75, 80, 90, 100] as const

interface Amounts {
  readonly spent: number
  /** Kept for runs that are under way. */
  readonly reserved: number
  readonly limit: number
}

/** Products may be larger than a number can hold exactly. */
const isAt = (amount: number, percent: number, limit: number): boolean =>
  BigInt(amount) * 100n >= BigInt(limit) * BigInt(percent)

/**
 * What is reserved counts as used. But only what was spent stops jobs for good: a reservation may yet be given back, so
 * until then they wait.
 */
export function levelOf({ spent, reserved, limit }: Amounts): BudgetLevel {
  if (spent >= limit) return 'HARD_STOP'
  const used = spent + reserved
  if (isAt(used, 90, limit)) return 'QUEUE'
  return isAt(used, 75, limit) ? 'REDUCE' : 'NORMAL'
}

export function remainingOf({ spent, reserved, limit }: Amounts): number {
  return Math.max(0, limit - spent - reserved)
}

/** Whole per cent, rounded down: 100 only if the limit is reached. */
export function percentOf({ spent, reserved, limit }: Amounts): number {
  return limit === 0 ? 100 : Number((BigInt(spent + reserved) * 100n) / BigInt(limit))
}

/** The highest threshold that the spending has reached, or 0. */
export function reachedThreshold({ spent, limit }: Pick<Amounts, 'spent' | 'limit'>): number {
  return THRESHOLDS.findLast((threshold) => isAt(spent, threshold, limit)) ?? 0
}

/** Those of which listeners hear when the highest one rises. */
export function newThresholds(from: number, to: number): number[] {
  return THRESHOLDS.filter((threshold) => threshold > from && threshold <= to)
}

/** What becomes of a job whose reservation does not fit: more than the whole limit will never fit. */
export function refusalLevel({ spent, limit }: Amounts, amount: number): 'QUEUE' | 'HARD_STOP' {
  return spent >= limit || amount > limit ? 'HARD_STOP' : 'QUEUE'
}
