// Times in words.

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** 'just now', '5 min ago', '3 h ago', '2 days ago'. */
export function ago(at: Date, now: Date): string {
  const ms = Math.max(0, now.getTime() - at.getTime())
  if (ms < MINUTE_MS) return 'just now'
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ago`
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h ago`
  const days = Math.floor(ms / DAY_MS)
  return days === 1 ? 'yesterday' : `${days} days ago`
}

/** '10:35', on the clock of that zone. */
export const clockTime = (at: Date, timeZone: string): string =>
  at.toLocaleTimeString('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' })

/** '10:35', with the day before it if that is another one than today. */
export function dayAndTime(at: Date, { now, timeZone }: { now: Date; timeZone: string }): string {
  const time = clockTime(at, timeZone)
  if (dateOf(at, timeZone) === dateOf(now, timeZone)) return time
  return `${at.toLocaleDateString('en-GB', { timeZone, weekday: 'short' })} ${time}`
}

/** 'Wednesday, 18 November 2026'. */
export const longDate = (at: Date, timeZone: string): string =>
  at.toLocaleDateString('en-GB', { timeZone, weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })

/** A day without a time, such as 2026-11-18: 'Today', 'Tomorrow' or 'Friday'. */
export function dayName(date: string, { now, timeZone }: { now: Date; timeZone: string }): string {
  if (date === dateOf(now, timeZone)) return 'Today'
  if (date === dateOf(new Date(now.getTime() + DAY_MS), timeZone)) return 'Tomorrow'
  return new Date(`${date}T12:00:00Z`).toLocaleDateString('en-GB', { timeZone: 'UTC', weekday: 'long' })
}

export const dateOf = (at: Date, timeZone: string): string => at.toLocaleDateString('en-CA', { timeZone })
