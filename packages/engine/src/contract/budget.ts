// Budgets: a ceiling for what jobs spend per month or day. Contracts name theirs; several types may share one.
import { InvalidDefinition } from '../errors.ts'

/**
 * How far a budget is used up. NORMAL below 75 %; REDUCE: handlers should take smaller bites; QUEUE from 90 %: jobs wait
 * for the next full hour; HARD_STOP: the limit is spent, and jobs end at once.
 */
export type BudgetLevel = 'NORMAL' | 'REDUCE' | 'QUEUE' | 'HARD_STOP'

/** Anything that can run SQL in a transaction. */
interface Tx {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

/** The month or day that an amount belongs to. */
export interface BudgetPeriod {
  /** '2026-11', or '2026-11-15'. */
  readonly period: string
  readonly startsAt: Date
  readonly endsAt: Date
}

export interface BudgetSpending {
  readonly amount: number
  readonly calls: number
  readonly type: string
  readonly createdBy: string | null
  /** What the handler said about it: numbers of tokens, for example. */
  readonly details: Readonly<Record<string, unknown>>
}

/** A table of the program's own that holds what was spent. */
export interface BudgetSource {
  /** What the table says now. `limit`: if the table has one, it stands before the code's. */
  read(tx: Tx, period: BudgetPeriod): Promise<{ spent: number; limit?: number | null }>
  /** Adds to the table, in the transaction in which Millrace counts it. Called once for each spend. */
  add(tx: Tx, period: BudgetPeriod, spending: BudgetSpending): Promise<void>
}

export interface BudgetDefinition {
  /** A whole number of `unit`. 0: nothing may be spent. */
  limit: number
  per: 'month' | 'day'
  /** For people: 'cents', 'tokens'. Take one in which every amount is whole. Default 'units'. */
  unit?: string
  /** Where months and days begin: an IANA name. Default 'UTC'. */
  timeZone?: string
  /** Where the spending is kept, if not in Millrace's own tables. */
  source?: BudgetSource
}

export interface Budget {
  readonly name: string
  readonly limit: number
  readonly per: 'month' | 'day'
  readonly unit: string
  readonly timeZone: string
  readonly source: BudgetSource | undefined
  /** It has a source, which is code of another program: only what that has read last is known here. */
  readonly isForeign: boolean
}

const NAME = /^[a-zA-Z][\w.:/-]{0,99}$/
const UNIT = /^[^\p{Cc}]{1,40}$/u
/** Sums of such amounts stay exact for longer than anybody will add them up. */
const MOST_AMOUNT = 1_000_000_000_000
const MOST_LIMIT = 1_000_000_000_000_000

/** Declares a budget. Name it in the contracts that are charged to it: `defineJob({ budget })`. */
export function defineBudget(name: string, definition: BudgetDefinition): Budget {
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new InvalidDefinition(
      `Budget name ${JSON.stringify(name)} is not usable: expected a letter followed by up to 99 letters, digits or "_ . : / -".`,
    )
  }
  const { limit, per, unit = 'units', timeZone = 'UTC', source } = definition
  const refuse = (problem: string): never => {
    throw new InvalidDefinition(`Budget "${name}" ${problem}`)
  }
  if (per !== 'month' && per !== 'day') refuse(`is per ${JSON.stringify(per)}: expected 'month' or 'day'.`)
  if (!UNIT.test(unit)) refuse(`has unit ${JSON.stringify(unit)}: expected a word, like 'cents'.`)
  if (source !== undefined && (typeof source.read !== 'function' || typeof source.add !== 'function'))
    refuse('has a source without `read` and `add`.')
  const zone = checkZone(timeZone, name)
  return { name, limit: checkLimit(limit, name), per, unit, timeZone: zone, source, isForeign: false }
}

export function checkLimit(limit: number, name: string): number {
  if (Number.isInteger(limit) && limit >= 0 && limit <= MOST_LIMIT) return limit
  throw new InvalidDefinition(
    `Budget "${name}" cannot have the limit ${limit}: expected a whole number of its unit from 0 to ${MOST_LIMIT}. For fractions take a smaller unit.`,
  )
}

/** Refuses what would make sums inexact. */
export function checkAmount(amount: number, what: string): number {
  if (Number.isInteger(amount) && amount >= 0 && amount <= MOST_AMOUNT) return amount
  throw new InvalidDefinition(
    `${what} is ${amount}: expected a whole number of the budget's unit from 0 to ${MOST_AMOUNT}. Round up, or take a smaller unit.`,
  )
}

/** Offsets like '+02:00' are refused: Postgres reads their sign the other way round. */
function checkZone(timeZone: string, name: string): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    if (/^[A-Za-z]/.test(timeZone)) return timeZone
  } catch {
    // Said below.
  }
  throw new InvalidDefinition(
    `Budget "${name}" has the time zone ${JSON.stringify(timeZone)}: expected an IANA name, like 'Europe/Helsinki'.`,
  )
}

const PERIOD = { month: /^\d{4}-(0[1-9]|1[0-2])$/, day: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/ }

export function checkPeriod(period: string, { name, per }: Pick<Budget, 'name' | 'per'>): string {
  const day = `${period}${per === 'month' ? '-01' : ''}`
  const isDate = PERIOD[per].test(period) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
  if (isDate) return period
  throw new InvalidDefinition(
    `Budget "${name}" is per ${per}, and ${JSON.stringify(period)} is none: expected ${per === 'month' ? "'2026-11'" : "'2026-11-15'"}.`,
  )
}
