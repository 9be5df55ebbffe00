// Amounts of budgets, and where spending leads. Pure.
import type { Answer } from '../../data/queries.ts'
import { compactNumber, formatNumber } from '../../ui/text/format.ts'
import type { Tone } from '../../ui/tone.ts'

export type Budget = Answer<'budgets', 'list'>['budgets'][number]

const MICRO = /^micro-?(dollars?|usd)$/i
const CENTS = /^cents?$/i

/** "$12.40" of microdollars and cents; other units by their name. */
export function formatAmount(amount: number, unit: string): string {
  if (MICRO.test(unit)) return dollars(amount / 1_000_000)
  if (CENTS.test(unit)) return dollars(amount / 100)
  return `${Math.abs(amount) < 100_000 ? formatNumber(amount) : compactNumber(amount)} ${unit}`
}

const dollars = (amount: number) =>
  `$${amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: amount !== 0 && Math.abs(amount) < 0.1 ? 4 : 2 })}`

/** What a person types is in dollars where the unit is a part of them. */
export const scaleOf = (unit: string): number => (MICRO.test(unit) ? 1_000_000 : CENTS.test(unit) ? 100 : 1)
export const shownUnit = (unit: string): string => (scaleOf(unit) === 1 ? unit : 'dollars')

export interface Forecast {
  /** At the end of the period, if spending goes on as it has so far. */
  readonly total: number
  /** When the limit is reached at that speed; null: not within the period. */
  readonly exhaustedAt: Date | null
}

/** A forecast from too short a time would be a guess: none before a twentieth of the period. */
export function forecastOf({ spent, limit, startsAt, endsAt }: Budget, now: number): Forecast | null {
  const [start, end] = [+new Date(startsAt), +new Date(endsAt)]
  const share = (now - start) / (end - start)
  if (!(share > 0.05) || share >= 1) return null
  const total = spent / share
  const exhaustedAt = total > limit && spent > 0 ? new Date(start + ((now - start) * limit) / spent) : null
  return { total, exhaustedAt: exhaustedAt !== null && +exhaustedAt < end ? exhaustedAt : null }
}

export const LEVELS: Readonly<Record<string, { tone: Tone; word: string; says: string }>> = {
  normal: { tone: 'ok', word: 'normal', says: 'Its jobs run at full speed.' },
  reduce: { tone: 'late', word: 'reduced', says: 'Its jobs take smaller bites.' },
  queue: { tone: 'late', word: 'queued', says: 'Its jobs wait for the next full hour.' },
  hard_stop: {
    tone: 'fail',
    word: 'stopped',
    says: 'Its jobs are cancelled until the period ends or the limit is raised.',
  },
}

export const levelOf = ({ level }: Budget) =>
  LEVELS[level.toLowerCase()] ?? { tone: 'off' as const, word: level.toLowerCase().replaceAll('_', ' '), says: '' }
