// How many requests of the day's few may have been used by now: four of five are spread over the session, the rest over the rest.
import { closeOf, type ExchangeTime, exchangeTime, OPENS } from './market-days.ts'

export type Session = 'market' | 'after_hours' | 'weekend'

const DAY = 24 * 60
const SHARE_OF_SESSION = 0.8

export function sessionAt(now: Date): Session {
  const { date, minutes } = exchangeTime(now)
  const close = closeOf(date)
  if (close === undefined) return 'weekend'
  return minutes >= OPENS && minutes <= close ? 'market' : 'after_hours'
}

/** Requests that may have been sent since midnight in New York. The first one of each part may be sent as it begins. */
export function allowedBy(now: Date, daily: number): number {
  const time = exchangeTime(now)
  const { session, rest } = sharesOf(time, daily)
  return begun(session) + begun(rest)
}

/** Minutes until each of so many symbols has had its turn. */
export function turnMinutes(now: Date, { daily, symbols }: { daily: number; symbols: number }): number {
  const { session, rest } = sharesOf(exchangeTime(now), daily)
  const part = sessionAt(now) === 'market' ? session : rest
  return part.requests === 0 ? DAY : (symbols * part.length) / part.requests
}

interface Part {
  readonly requests: number
  /** In minutes. */
  readonly length: number
  readonly elapsed: number
}

function sharesOf({ date, minutes }: ExchangeTime, daily: number): { session: Part; rest: Part } {
  const close = closeOf(date) ?? OPENS
  const forSession = Math.floor(daily * SHARE_OF_SESSION)
  const inSession = Math.max(0, Math.min(minutes, close) - OPENS)
  // Before it opens, and on days without one, nothing of the session's share may be used.
  const hasBegun = close > OPENS && minutes >= OPENS
  return {
    session: { requests: hasBegun ? forSession : 0, length: close - OPENS, elapsed: inSession },
    rest: { requests: daily - forSession, length: DAY - (close - OPENS), elapsed: minutes - inSession },
  }
}

const begun = ({ requests, length, elapsed }: Part): number =>
  requests === 0 ? 0 : Math.min(requests, 1 + Math.floor((elapsed * requests) / length))
