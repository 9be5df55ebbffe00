// When the New York Stock Exchange is open, by its published rules: holidays, and days that end at 13:00.
// A day on which it closes for an event of its time, such as a day of mourning, is not known here.

/** Minutes since midnight in New York. */
export const OPENS = 9 * 60 + 30
const CLOSES = 16 * 60
const CLOSES_EARLY = 13 * 60
const DAY_MS = 86_400_000
export const EXCHANGE_ZONE = 'America/New_York'

export interface ExchangeTime {
  /** In New York, such as 2026-11-27. */
  readonly date: string
  /** Since midnight there. */
  readonly minutes: number
}

const parts = new Intl.DateTimeFormat('en-CA', {
  timeZone: EXCHANGE_ZONE,
  hourCycle: 'h23',
  ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
})

export function exchangeTime(at: Date): ExchangeTime {
  const found = Object.fromEntries(parts.formatToParts(at).map(({ type, value }) => [type, value]))
  return {
    date: `${found.year}-${found.month}-${found.day}`,
    minutes: Number(found.hour) * 60 + Number(found.minute),
  }
}

export const isTradingDay = (date: string): boolean => !isWeekend(date) && !holidaysOf(yearOf(date)).includes(date)

/** When trading ends on that day, in minutes since midnight; undefined: there is none. */
export function closeOf(date: string): number | undefined {
  if (!isTradingDay(date)) return undefined
  return earlyClosesOf(yearOf(date)).includes(date) ? CLOSES_EARLY : CLOSES
}

export const isEarlyClose = (date: string): boolean => closeOf(date) === CLOSES_EARLY

/** Of a year, in order. */
export function holidaysOf(year: number): string[] {
  const days = [
    newYear(year),
    nthWeekday(year, 1, MONDAY, 3), // Martin Luther King Jr.
    nthWeekday(year, 2, MONDAY, 3), // Washington
    easter(year) - 2 * DAY_MS, // Good Friday
    lastMonday(year, 5), // Memorial Day
    observed(day(year, 6, 19)), // Juneteenth
    observed(day(year, 7, 4)),
    nthWeekday(year, 9, MONDAY, 1), // Labor Day
    nthWeekday(year, 11, THURSDAY, 4), // Thanksgiving
    observed(day(year, 12, 25)),
  ]
  return days.flatMap((each) => (each === undefined ? [] : [iso(each)]))
}

/** The day before Independence Day, the day after Thanksgiving, and Christmas Eve, if they are trading days. */
export function earlyClosesOf(year: number): string[] {
  const fourth = day(year, 7, 4)
  const beforeFourth = isWeekend(iso(fourth)) ? [] : [day(year, 7, 3)]
  const days = [...beforeFourth, nthWeekday(year, 11, THURSDAY, 4) + DAY_MS, day(year, 12, 24)]
  return days.map(iso).filter(isTradingDay)
}

const MONDAY = 1
const THURSDAY = 4

const day = (year: number, month: number, date: number): number => Date.UTC(year, month - 1, date)
const iso = (at: number): string => new Date(at).toISOString().slice(0, 10)
const yearOf = (date: string): number => Number(date.slice(0, 4))
const weekdayOf = (at: number): number => new Date(at).getUTCDay()
const isWeekend = (date: string): boolean => weekdayOf(Date.parse(date)) % 6 === 0

function nthWeekday(year: number, month: number, weekday: number, n: number): number {
  const first = day(year, month, 1)
  return first + (((weekday - weekdayOf(first) + 7) % 7) + (n - 1) * 7) * DAY_MS
}

function lastMonday(year: number, month: number): number {
  const last = day(year, month + 1, 0)
  return last - ((weekdayOf(last) - MONDAY + 7) % 7) * DAY_MS
}

/** A holiday on a Saturday is kept on Friday, one on a Sunday on Monday. */
const observed = (at: number): number => at + (weekdayOf(at) === 6 ? -DAY_MS : weekdayOf(at) === 0 ? DAY_MS : 0)

/** A New Year on a Saturday is not kept: the Friday before it ends a quarter. */
const newYear = (year: number): number | undefined =>
  weekdayOf(day(year, 1, 1)) === 6 ? undefined : observed(day(year, 1, 1))

/** Easter Sunday, by the anonymous Gregorian computus. */
function easter(year: number): number {
  const golden = year % 19
  const century = Math.floor(year / 100)
  const rest = year % 100
  const skipped = Math.floor(century / 4)
  const correction = Math.floor((8 * century + 13) / 25)
  const epact = (19 * golden + century - skipped - correction + 15) % 30
  const weekday = (32 + 2 * (century % 4) + 2 * Math.floor(rest / 4) - epact - (rest % 4)) % 7
  const shift = Math.floor((golden + 11 * epact + 22 * weekday) / 451)
  const days = epact + weekday - 7 * shift + 114
  return day(year, Math.floor(days / 31), (days % 31) + 1)
}
