// What clocks show, by Intl alone: for models that share no code with what they check.

const formats = new Map<string, Intl.DateTimeFormat>()

/** Milliseconds as if the local time were UTC. */
export function localTime(instant: number, timeZone: string): number {
  let format = formats.get(timeZone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
    formats.set(timeZone, format)
  }
  return Date.parse(`${format.format(instant).replace(' ', 'T')}Z`)
}

export interface Shift {
  timeZone: string
  /** The first instant after the clocks were changed. */
  at: string
}

export const SHIFTS: Shift[] = [
  { timeZone: 'America/New_York', at: '2026-03-08T07:00Z' },
  { timeZone: 'America/New_York', at: '2026-11-01T06:00Z' },
  { timeZone: 'Europe/Helsinki', at: '2026-03-29T01:00Z' },
  { timeZone: 'Europe/Helsinki', at: '2026-10-25T01:00Z' },
  { timeZone: 'Australia/Lord_Howe', at: '2026-04-04T15:00Z' },
  { timeZone: 'Australia/Lord_Howe', at: '2026-10-03T15:30Z' },
  { timeZone: 'America/Sao_Paulo', at: '2018-11-04T03:00Z' },
  { timeZone: 'America/Sao_Paulo', at: '2018-02-18T02:00Z' },
  { timeZone: 'Africa/Cairo', at: '2026-04-23T22:00Z' },
  { timeZone: 'Africa/Cairo', at: '2026-10-29T21:00Z' },
  { timeZone: 'Africa/Casablanca', at: '2026-02-15T02:00Z' },
  { timeZone: 'Africa/Casablanca', at: '2026-03-22T02:00Z' },
  { timeZone: 'Pacific/Apia', at: '2011-12-30T10:00Z' },
  { timeZone: 'Antarctica/Troll', at: '2026-03-29T01:00Z' }, // two hours
  { timeZone: 'Antarctica/Troll', at: '2026-10-25T01:00Z' },
]

const MINUTE_MS = 60_000

/**
 * Minute by minute, what is due as clocks go on. `isDue` is asked for local times: frequent ones as shown, fixed ones as
 * they are passed for the first time.
 */
export function firesByMinute(
  { timeZone, from, to }: { timeZone: string; from: number; to: number },
  isDue: { frequent?: (local: number) => boolean; fixed?: (local: number) => boolean },
): number[] {
  const found: number[] = []
  let latest = localTime(from - MINUTE_MS, timeZone)
  // Where `from` is soon after clocks were set back, later times have been shown before.
  for (let instant = from - 86_400_000; instant < from; instant += MINUTE_MS)
    latest = Math.max(latest, localTime(instant, timeZone))
  for (let instant = from; instant <= to; instant += MINUTE_MS) {
    const local = localTime(instant, timeZone)
    let fits = isDue.frequent?.(local) ?? false
    const isAnotherDay = local - latest > 4 * 3_600_000
    for (let time = isAnotherDay ? local : latest + MINUTE_MS; time <= local; time += MINUTE_MS)
      fits ||= isDue.fixed?.(time) ?? false
    latest = Math.max(latest, local)
    if (fits) found.push(instant)
  }
  return found
}
