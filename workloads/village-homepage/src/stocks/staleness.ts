// Whether a quote is too old to be shown without saying so.
import { turnMinutes } from './pace.ts'
import type { KeptQuote } from './quote.ts'

export interface StalenessFacts {
  readonly now: Date
  /** Requests of a day. */
  readonly daily: number
  /** How many symbols share them. */
  readonly symbols: number
  /** Nothing more is asked for today. */
  readonly isSpent: boolean
}

const TURNS = 2

export function isStale(quote: KeptQuote | undefined, { now, daily, symbols, isSpent }: StalenessFacts): boolean {
  if (quote === undefined || isSpent) return true
  const ageMinutes = (now.getTime() - quote.fetchedAt.getTime()) / 60_000
  return ageMinutes > TURNS * turnMinutes(now, { daily, symbols })
}
