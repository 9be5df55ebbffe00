// Where clocks are changed, as a table that was checked by hand, and what two timings then mean. Nothing here asks anybody
// for a time zone: it is the oracle of those who do. All of it lies ahead, because the engine forgets ticks of long ago.

export interface Shift {
  timeZone: string
  /** The first instant after the clocks were changed. */
  at: string
  /** Minutes ahead of UTC. */
  before: number
  after: number
}

export const SHIFTS: readonly Shift[] = [
  { timeZone: 'America/New_York', at: '2036-03-09T07:00Z', before: -300, after: -240 },
  { timeZone: 'America/New_York', at: '2036-11-02T06:00Z', before: -240, after: -300 },
  // Half an hour beside the others.
  { timeZone: 'America/St_Johns', at: '2036-03-09T05:30Z', before: -210, after: -150 },
  { timeZone: 'America/St_Johns', at: '2036-11-02T04:30Z', before: -150, after: -210 },
  { timeZone: 'Europe/Helsinki', at: '2036-03-30T01:00Z', before: 120, after: 180 },
  { timeZone: 'Europe/Helsinki', at: '2036-10-26T01:00Z', before: 180, after: 120 },
  // By two hours.
  { timeZone: 'Antarctica/Troll', at: '2036-03-30T01:00Z', before: 0, after: 120 },
  { timeZone: 'Antarctica/Troll', at: '2036-10-26T01:00Z', before: 120, after: 0 },
  // By half an hour.
  { timeZone: 'Australia/Lord_Howe', at: '2036-04-05T15:00Z', before: 660, after: 630 },
  { timeZone: 'Australia/Lord_Howe', at: '2036-10-04T15:30Z', before: 630, after: 660 },
  // Three quarters beside the others.
  { timeZone: 'Pacific/Chatham', at: '2036-04-05T14:00Z', before: 825, after: 765 },
  { timeZone: 'Pacific/Chatham', at: '2036-09-27T14:00Z', before: 765, after: 825 },
  // At midnight.
  { timeZone: 'Africa/Cairo', at: '2036-04-24T22:00Z', before: 120, after: 180 },
  { timeZone: 'Africa/Cairo', at: '2036-10-30T21:00Z', before: 180, after: 120 },
  { timeZone: 'America/Santiago', at: '2036-04-06T03:00Z', before: -180, after: -240 },
  { timeZone: 'America/Santiago', at: '2036-09-07T04:00Z', before: -240, after: -180 },
]

export const ZONES = [...new Set(SHIFTS.map(({ timeZone }) => timeZone))]

/** Fires whenever clocks show a time that fits. */
export const FREQUENT = '*/30 * * * *'
/** Fires once a day for each time of day, wherever that falls. */
export const FIXED = '15 0,1,2,3 * * *'
const FIXED_MINUTES = [15, 75, 135, 195]

const MINUTE_MS = 60_000
const DAY_MINUTES = 1_440

export interface Range {
  fromMs: number
  toMs: number
}

/** Minute by minute: the clock shows full and half hours. */
export function frequentFires(shift: Shift, { fromMs, toMs }: Range): Date[] {
  const found: Date[] = []
  for (let ms = Math.ceil(fromMs / MINUTE_MS) * MINUTE_MS; ms <= toMs; ms += MINUTE_MS) {
    const offset = ms < Date.parse(shift.at) ? shift.before : shift.after
    if ((ms / MINUTE_MS + offset) % 30 === 0) found.push(new Date(ms))
  }
  return found
}

/** Day by day: a time that clocks show twice counts the first time, one that they skip counts when they are changed. */
export function fixedFires({ at, before, after }: Shift, { fromMs, toMs }: Range): Date[] {
  const change = Date.parse(at) / MINUTE_MS
  const found = new Set<number>()
  const firstDay = Math.floor(fromMs / MINUTE_MS / DAY_MINUTES) - 1
  for (let day = firstDay; day * DAY_MINUTES * MINUTE_MS < toMs + 2 * DAY_MINUTES * MINUTE_MS; day++) {
    for (const time of FIXED_MINUTES) {
      const local = day * DAY_MINUTES + time
      const shown = [local - before, local - after].filter((minute, i) => minute < change === (i === 0))
      found.add(Math.min(...shown, ...(shown.length === 0 ? [change] : [])) * MINUTE_MS)
    }
  }
  const inRange = [...found].filter((ms) => ms >= fromMs && ms <= toMs)
  return inRange.sort((a, b) => a - b).map((ms) => new Date(ms))
}
