// When a schedule is to fire, as authors write it: plain data, checked when it is written.
import { type Duration, toMs } from '../contract/duration.ts'
import { InvalidDefinition } from '../errors.ts'
import { timeOfDay } from './calendar.ts'
import { checkCron } from './cron.ts'
import type { CalendarRule, CalendarTiming, CronTiming, Timing, Weekday } from './timing.ts'
import { checkTimeZone } from './zone.ts'

export type When = Cron | Interval | CalendarTiming

/** Without the time before which it does not fire: that is known when the schedule is first written. */
export interface Cron extends Omit<CronTiming, 'startsAt'> {
  initialDelayMs?: number
}

/** Without its first fire: that is known when the schedule is first written. */
export interface Interval {
  kind: 'every'
  everyMs: number
  initialDelayMs: number
}

export interface CalendarOptions {
  /** @default 'UTC' */
  timeZone?: string
  /** The first that covers a moment decides whether it fires. */
  rules: readonly CalendarRuleOptions[]
  /** Days like '2026-12-25', on which only rules count whose `days` name `holidays`. */
  holidays?: readonly string[]
}

export interface CalendarRuleOptions {
  /** 'mon-fri', 'sat,sun', 'sat,sun,holidays'. */
  days: string
  /** Local time of day; fires are whole intervals after it. @default '00:00' */
  from?: string
  /** The last fire is then at the latest. @default '24:00', the end of the day */
  to?: string
  /** Where clocks are changed, intervals of an hour at most follow real time; longer ones are fixed times of day. */
  every: Duration
}

/**
 * By the clocks of a time zone: `cron('0 8 * * *', { timeZone: 'Europe/Helsinki' })`. The zone is UTC if none is given. With
 * `initialDelay` no fire is earlier than so long after the schedule is first written.
 */
export function cron(
  expression: string,
  { timeZone = 'UTC', initialDelay }: { timeZone?: string; initialDelay?: Duration } = {},
): Cron {
  checkCron(expression)
  checkTimeZone(timeZone)
  if (initialDelay === undefined) return { kind: 'cron', expression, timeZone }
  return { kind: 'cron', expression, timeZone, initialDelayMs: Math.round(toMs(initialDelay, 'initialDelay')) }
}

/** Again and again: `every('15m')`. The first fire is one interval, or `initialDelay`, after the schedule is first written. */
export function every(interval: Duration, { initialDelay }: { initialDelay?: Duration } = {}): Interval {
  const everyMs = intervalMs(interval, 'every(…)')
  const initialDelayMs = initialDelay === undefined ? everyMs : Math.round(toMs(initialDelay, 'initialDelay'))
  return { kind: 'every', everyMs, initialDelayMs }
}

/** Different intervals by day and time, like the opening hours of a market. */
export function calendar({ timeZone = 'UTC', rules, holidays = [] }: CalendarOptions): CalendarTiming {
  checkTimeZone(timeZone)
  const timing: CalendarTiming = { kind: 'calendar', timeZone, rules: rules.map(ruleOf), holidays: [...holidays] }
  checkRules(timing)
  return timing
}

/**
 * As it is stored. A first fire at `now` itself counts, with `initialDelay: 0`: `fires(timing, { from: now })` begins with it,
 * `nextFire(timing, now)` is behind it.
 */
export function timingOf(when: When, { now }: { now: Date }): Timing {
  checkWhen(when)
  if (when.kind === 'calendar') return when
  const { initialDelayMs, ...timing } = when
  if (initialDelayMs === undefined) return timing as CronTiming
  return { ...timing, startsAt: new Date(now.getTime() + initialDelayMs).toISOString() }
}

/** For plain data that did not come from cron(), every() or calendar(): out of JSON, say. */
export function checkWhen(when: When): void {
  switch (when?.kind) {
    case 'cron':
      cron(when.expression, when)
      if (when.initialDelayMs !== undefined) toMs(when.initialDelayMs, 'initialDelayMs')
      return
    case 'every':
      checkInterval(when.everyMs, 'everyMs')
      toMs(when.initialDelayMs, 'initialDelayMs')
      return
    case 'calendar':
      checkTimeZone(when.timeZone)
      checkRules(when)
      return
    default:
      throw new InvalidDefinition(
        `A schedule is to fire by ${JSON.stringify(when)}, which nobody understands. Expected what cron(), every() or calendar() returns.`,
      )
  }
}

function checkRules({ rules, holidays }: CalendarTiming): void {
  if (!Array.isArray(rules) || !Array.isArray(holidays) || rules.length === 0)
    throw new InvalidDefinition(
      "A calendar has no rules. Expected one at least, like { days: 'mon-fri', every: '1h' } for calendar(…), and a list of holidays.",
    )
  for (const day of holidays) checkDate(day)
  for (const [index, { days, from, to, everyMs }] of rules.entries()) {
    const where = `rules[${index}] of a calendar`
    checkSpan(from, to, where)
    checkInterval(everyMs, `everyMs of ${where}`)
    if (!Array.isArray(days) || days.some((day) => !Number.isInteger(day) || day < 0 || day > 6))
      throw new InvalidDefinition(
        `days of ${where} are ${JSON.stringify(days)}. Expected numbers from 0, Sunday, to 6, Saturday.`,
      )
  }
}

function checkInterval(ms: number, what: string): void {
  if (Number.isInteger(ms)) intervalMs(ms, what)
  else throw new InvalidDefinition(`${what} is ${JSON.stringify(ms)}. Expected whole milliseconds, like 60000.`)
}

function intervalMs(interval: Duration, what: string): number {
  const ms = Math.round(toMs(interval, what))
  if (ms >= 1_000) return ms
  throw new InvalidDefinition(`${what} is ${JSON.stringify(interval)}: a second is the least, like '1s'.`)
}

function ruleOf({ days, from = '00:00', to = '24:00', every }: CalendarRuleOptions, index: number): CalendarRule {
  const where = `rules[${index}] of a calendar`
  checkSpan(from, to, where)
  return { ...daysOf(days, where), from, to, everyMs: intervalMs(every, `every of ${where}`) }
}

function checkSpan(from: string, to: string, where: string): void {
  for (const [name, time] of Object.entries({ from, to })) {
    if (/^([01]\d|2[0-3]):[0-5]\d$/.test(time) || (name === 'to' && time === '24:00')) continue
    throw new InvalidDefinition(`${name} of ${where} is ${JSON.stringify(time)}. Expected a time of day, like '09:30'.`)
  }
  if (timeOfDay(from) > timeOfDay(to))
    throw new InvalidDefinition(
      `${where} goes from ${from} to ${to}, which is beyond midnight. Write two rules: one to '24:00', one from '00:00'.`,
    )
}

const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

function daysOf(text: string, where: string): Pick<CalendarRule, 'days' | 'onHolidays'> {
  const items = String(text)
    .toLowerCase()
    .split(',')
    .map((item) => item.trim())
  const days = new Set<number>()
  for (const item of items.filter((item) => item !== 'holidays')) {
    const [first = -1, last = first, ...more] = item.split('-').map((name) => WEEKDAYS.indexOf(name))
    if (first < 0 || last < 0 || more.length > 0)
      throw new InvalidDefinition(
        `days of ${where} is ${JSON.stringify(text)}, where "${item}" is not known. Expected names of days (${WEEKDAYS.join(', ')}), ranges of them or \`holidays\`, like 'mon-fri' or 'sat,sun,holidays'.`,
      )
    for (let i = 0; i <= (last - first + 7) % 7; i++) days.add((first + i) % 7)
  }
  return { days: [...days].sort() as Weekday[], onHolidays: items.includes('holidays') }
}

function checkDate(day: string): void {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(day) && new Date(`${day}T00:00Z`).getUTCDate() === Number(day.slice(8))
  if (!isDate)
    throw new InvalidDefinition(`There is no day ${JSON.stringify(day)} for holidays. Expected '2026-12-25'.`)
}
