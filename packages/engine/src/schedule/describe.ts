import type { CalendarRule, Timing, Weekday } from './timing.ts'

/** One sentence for people. */
export function describe(timing: Timing): string {
  switch (timing.kind) {
    case 'every':
      return interval(timing.everyMs)
    case 'cron':
      return cronInWords(timing.expression, timing.timeZone)
    case 'calendar':
      return `${timing.rules.map(ruleInWords).join('; ')}; ${timing.timeZone}`
  }
}

/** The forms that people use most; whoever writes others reads them too. */
function cronInWords(expression: string, timeZone: string): string {
  const text = expression.trim().replace(/^0 (\S+ \S+ \S+ \S+ [*?])$/, '$1')
  const [, minutes] = /^\*\/(\d+) \* \* \* [*?]$/.exec(text) ?? []
  // 7 minutes do not divide the hour evenly.
  if (minutes !== undefined && 60 % Number(minutes) === 0) return interval(Number(minutes) * 60_000)
  if (/^\* \* \* \* [*?]$/.test(text)) return interval(60_000)
  const [, minute = '', hour = ''] = /^(\d+) (\d+) \* \* [*?]$/.exec(text) ?? []
  if (hour !== '') return `at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')} every day, ${timeZone}`
  return `cron ${expression.trim()}, ${timeZone}`
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

function interval(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms % length === 0) ?? ['ms', 1]
  if (ms === size) return `every ${unit}`
  return `every ${ms / size} ${unit === 'ms' ? unit : `${unit}s`}`
}

function ruleInWords({ days, from, to, everyMs, onHolidays }: CalendarRule): string {
  const time = from === '00:00' && to === '24:00' ? '' : ` from ${from} to ${to}`
  const names = [...daysInWords(days), ...(onHolidays ? ['holidays'] : [])]
  return `${interval(everyMs)}${time} on ${names.join(', ')}`
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** The week begins on Monday: Mon–Fri, Sat, Sun. Three in a row or more become a range. */
function daysInWords(days: readonly Weekday[]): string[] {
  const runs: number[][] = []
  for (const day of [1, 2, 3, 4, 5, 6, 7].filter((day) => days.includes((day % 7) as Weekday))) {
    const run = runs.at(-1)
    if (run?.at(-1) === day - 1) run.push(day)
    else runs.push([day])
  }
  const name = (day: number | undefined): string => WEEKDAYS[(day ?? 0) % 7] ?? ''
  return runs.flatMap((run) => (run.length > 2 ? `${name(run[0])}–${name(run.at(-1))}` : run.map(name)))
}
