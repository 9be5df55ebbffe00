// Budgets: where they stand, what is reserved and spent, which limits somebody has set.
import type { Now } from '../clock.ts'
import type { Budget } from '../contract/budget.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import type { KeyedRow } from './job-changes.ts'

/** What the database says about a budget. Amounts are whole numbers of its unit. */
export interface BudgetRow {
  readonly name: string
  readonly per: Budget['per']
  readonly timeZone: string
  readonly period: string
  /** The moment of this look, by the database's clock. */
  readonly at: Date
  readonly startsAt: Date
  readonly endsAt: Date
  readonly nextHourAt: Date
  readonly declaredLimit: number
  /** Set by somebody, from then on. */
  readonly limitOverride: number | null
  /** Set by somebody, for this period. */
  readonly periodLimit: number | null
  readonly spent: number
  readonly reserved: number
  /** The highest threshold that was reached and noted. */
  readonly notified: number
  /** Of some threshold, perhaps of another period, no listener was told. */
  readonly isUntold: boolean
  /** What a program has last read in this period of a table of its own; null: nothing. */
  readonly reading: BudgetReading | null
}

export interface BudgetReading {
  readonly spent: number
  /** Null: the table has none. */
  readonly limit: number | null
  readonly at: Date
}

type Declared = Pick<Budget, 'name' | 'per' | 'unit' | 'timeZone' | 'limit'> & { readonly hasSource: boolean }

export async function budgetDeclare(session: Session, now: Now, budgets: readonly Budget[]): Promise<void> {
  const sorted = [...budgets].sort((a, b) => (a.name < b.name ? -1 : 1))
  await session.run('budgetDeclare', [
    now,
    textArray(sorted.map(({ name }) => name)),
    textArray(sorted.map(({ per }) => per)),
    textArray(sorted.map(({ unit }) => unit)),
    textArray(sorted.map(({ timeZone }) => timeZone)),
    plainArray(sorted.map(({ limit }) => limit)),
    plainArray(sorted.map(({ source }) => source !== undefined)),
  ])
}

/** Every budget that some program has declared on this database. */
export async function budgetDeclared(session: Session): Promise<Declared[]> {
  const rows = await session.run<Omit<Declared, 'limit'> & { declaredLimit: unknown }>('budgetDeclared', [])
  return rows.map(({ declaredLimit, ...row }) => ({ ...row, limit: Number(declaredLimit) }))
}

type Wanted = Pick<Budget, 'name' | 'per' | 'timeZone' | 'limit'>

/** By position. `period`: null for the one that `now` is in. */
export async function budgetLook(
  session: Session,
  now: Now,
  budgets: readonly Wanted[],
  period: string | null = null,
): Promise<BudgetRow[]> {
  const rows = await session.run<RawRow>('budgetLook', [
    now,
    textArray(budgets.map(({ name }) => name)),
    textArray(budgets.map(({ per }) => per)),
    textArray(budgets.map(({ timeZone }) => timeZone)),
    plainArray(budgets.map(({ limit }) => limit)),
    period,
  ])
  return rows.map(rowOf)
}

type RawRow = Record<keyof BudgetRow | 'readingSpent' | 'readingLimit' | 'readingAt', unknown>

/** Amounts are bigint, and a caller's driver has its own idea of them and of times. */
function rowOf(row: RawRow): BudgetRow {
  const nullable = (value: unknown) => (value === null ? null : Number(value))
  const time = (value: unknown) => new Date(value as string | Date)
  return {
    name: row.name as string,
    per: row.per as Budget['per'],
    timeZone: row.timeZone as string,
    period: row.period as string,
    at: time(row.at),
    startsAt: time(row.startsAt),
    endsAt: time(row.endsAt),
    nextHourAt: time(row.nextHourAt),
    declaredLimit: Number(row.declaredLimit),
    limitOverride: nullable(row.limitOverride),
    periodLimit: nullable(row.periodLimit),
    spent: Number(row.spent),
    reserved: Number(row.reserved),
    notified: Number(row.notified),
    isUntold: row.isUntold as boolean,
    reading:
      row.readingAt === null
        ? null
        : { spent: Number(row.readingSpent), limit: nullable(row.readingLimit), at: time(row.readingAt) },
  }
}

interface PeriodOf {
  readonly budget: string
  readonly period: string
}

export async function budgetPeriodLock(tx: Session, now: Now, { budget, period }: PeriodOf): Promise<void> {
  await tx.run('budgetPeriodLock', [now, budget, period])
}

export async function budgetReading(
  session: Session,
  { budget, period }: PeriodOf,
  { spent, limit, at }: BudgetReading,
): Promise<void> {
  await session.run('budgetReading', [budget, period, spent, limit, at])
}

interface RunKey {
  readonly id: string
  readonly runId: string
}

export interface Charge extends PeriodOf {
  /** A uuid: the same for a reservation and what is spent of it. */
  readonly id: string
  readonly amount: number
}

/** False: the run no longer owns its job. */
export async function budgetReserve(tx: Session, now: Now, run: RunKey, charge: Charge): Promise<boolean> {
  const { id, budget, period, amount } = charge
  return (await tx.run('budgetReserve', [now, run.id, run.runId, id, budget, period, amount])).length > 0
}

/** False: it was counted before. */
export async function budgetSpend(
  tx: Session,
  now: Now,
  run: RunKey,
  charge: Charge & { calls: number; type: string; createdBy: string | null },
): Promise<boolean> {
  const { id, budget, period, amount, calls, type, createdBy } = charge
  const rows = await tx.run('budgetSpend', [now, run.id, run.runId, id, budget, period, amount, calls, type, createdBy])
  return rows.length > 0
}

/** `reservation`: null for whatever the run has left behind. */
export async function budgetRelease(session: Session, run: RunKey, reservation: string | null): Promise<void> {
  await session.run('budgetRelease', [run.id, run.runId, reservation])
}

export async function budgetReservationSweep(session: Session, limit: number): Promise<number> {
  return (await session.run('budgetReservationSweep', [limit])).length
}

/** The job of this run is about to wait until then. */
export async function budgetHold(session: Session, run: RunKey, hold: { budget: string; until: Date }): Promise<void> {
  await session.run('budgetHold', [hold.budget, run.id, run.runId, hold.until])
}

/** Makes jobs due that wait for a budget, at most `limit`. `freed`: how many holds are gone. */
export async function budgetResume(
  session: Session,
  now: Now,
  budget: string,
  limit: number,
): Promise<{ freed: number; due: KeyedRow[] }> {
  const rows = await session.run<KeyedRow | { id: null }>('budgetResume', [now, budget, limit])
  return { freed: rows.length, due: rows.filter((row): row is KeyedRow => row.id !== null) }
}

export async function budgetHoldPrune(session: Session, now: Now, limit: number): Promise<number> {
  return (await session.run('budgetHoldPrune', [now, limit])).length
}

/** Answers with how many periods were forgotten. */
export async function budgetPeriodPrune(session: Session, now: Now, months: number, limit: number): Promise<number> {
  return (await session.run('budgetPeriodPrune', [now, months, limit])).length
}

export interface Reached extends PeriodOf {
  readonly threshold: number
  /** Those of which listeners are to be told. */
  readonly thresholds: readonly number[]
  readonly spent: number
  readonly limit: number
}

export async function budgetNotified(tx: Session, now: Now, reached: Reached): Promise<void> {
  const { budget, period, threshold, thresholds, spent, limit } = reached
  await tx.run('budgetNotified', [now, budget, period, threshold, plainArray(thresholds), spent, limit])
}

export interface BudgetNotice {
  readonly id: string
  readonly period: string
  readonly threshold: number
}

export function budgetNoticeTake(session: Session, budget: string): Promise<BudgetNotice[]> {
  return session.run('budgetNoticeTake', [budget])
}

export async function budgetNoticeTold(session: Session, now: Now, ids: readonly string[]): Promise<void> {
  await session.run('budgetNoticeTold', [now, plainArray(ids)])
}

/** Null: what the code says counts again. */
export async function budgetLimit(tx: Session, now: Now, budget: Declared, limit: number | null): Promise<void> {
  const { name, per, unit, timeZone, hasSource } = budget
  await tx.run('budgetLimit', [now, name, per, unit, timeZone, budget.limit, hasSource, limit])
}

export async function budgetPeriodLimit(tx: Session, of: PeriodOf, limit: number | null): Promise<void> {
  await tx.run('budgetPeriodLimit', [of.budget, of.period, limit])
}

/** What one job type spent in a period for one user. */
export interface BudgetUsage {
  readonly type: string
  readonly createdBy: string | null
  readonly amount: number
  readonly calls: number
  readonly updatedAt: Date
}

export async function budgetUsageList(session: Session, of: PeriodOf, limit: number): Promise<BudgetUsage[]> {
  const rows = await session.run<BudgetUsage>('budgetUsageList', [of.budget, of.period, limit])
  return rows.map((row) => ({ ...row, amount: Number(row.amount), calls: Number(row.calls) }))
}
