import type { LocalTimes } from './local-times.ts'
import type { CalendarRule, CalendarTiming, Weekday } from './timing.ts'
import { DAY_MS } from './zone.ts'

/** A rule as times of day in milliseconds. It covers both ends. */
interface Span {
  rule: CalendarRule
  from: number
  last: number
}

/** Longer intervals are fixed times of day, shorter ones frequent: see `local-times.ts`. */
const LONGEST_FREQUENT_MS = 3_600_000

/**
 * When a calendar fires, on a clock without daylight saving: its frequent rules, and its fixed ones. A rule's fires are whole
 * intervals after its `from`, and only those count that no earlier rule covers.
 */
export function calendarTimes({ rules, holidays }: CalendarTiming): LocalTimes[] {
  const spans = rules.map((rule) => ({ rule, from: timeOfDay(rule.from), last: lastOf(rule.to) }))
  const daysOff = new Set(holidays.map((day) => Date.parse(`${day}T00:00Z`)).sort((a, b) => a - b))
  return [false, true].map((isFixed) => ({
    isFixed,
    after(local) {
      for (const day of daysFrom(Math.floor(local / DAY_MS) * DAY_MS, daysOff)) {
        const covering = spans.filter(({ rule }) => isOn(rule, day, daysOff))
        const time = firstOnDay(covering, local + 1 - day, isFixed)
        if (time !== undefined) return day + time
      }
      return undefined
    },
  }))
}

/** Enough days that each weekday comes up once without being a holiday, then what holidays are left. */
function* daysFrom(start: number, holidays: ReadonlySet<number>): Generator<number> {
  const end = start + 7 * (holidays.size + 2) * DAY_MS
  for (let day = start; day < end; day += DAY_MS) yield day
  for (const day of holidays) if (day >= end) yield day
}

/** A holiday is a kind of day of its own: it is not also a Friday. */
const isOn = (rule: CalendarRule, day: number, holidays: ReadonlySet<number>): boolean =>
  holidays.has(day) ? rule.onHolidays : rule.days.includes(new Date(day).getUTCDay() as Weekday)

function firstOnDay(spans: Span[], least: number, isFixed: boolean): number | undefined {
  const firsts = spans.flatMap((span, i) =>
    span.rule.everyMs > LONGEST_FREQUENT_MS === isFixed ? (firstUncovered(span, spans.slice(0, i), least) ?? []) : [],
  )
  return firsts.length === 0 ? undefined : Math.min(...firsts)
}

function firstUncovered({ rule, from, last }: Span, earlier: Span[], least: number): number | undefined {
  let time = from
  for (;;) {
    const intervals = Math.ceil((Math.max(time, least) - from) / rule.everyMs)
    time = from + Math.max(0, intervals) * rule.everyMs
    if (time > last) return undefined
    const cover = earlier.find((span) => span.from <= time && time <= span.last)
    if (cover === undefined) return time
    time = cover.last + 1
  }
}

/** Of '09:30'. */
export function timeOfDay(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return (hours * 60 + minutes) * 60_000
}

/** '24:00' belongs to the next day already. */
const lastOf = (to: string): number => Math.min(timeOfDay(to), DAY_MS - 1)
