import { CronExpressionParser } from 'cron-parser'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fires } from '#src/schedule/next-fire'
import { firesByMinute, localTime, SHIFTS } from './local-clock.ts'

const DAY_MS = 86_400_000

const number = (min: number, max: number) => fc.integer({ min, max }).map(String)
const list = (min: number, max: number) =>
  fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 4 }).map((values) => values.join(','))
const range = (min: number, max: number) =>
  fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
const step = (min: number, max: number) => fc.integer({ min: 1, max: max - min }).map((size) => `/${size}`)
const stepped = (min: number, max: number) =>
  fc.tuple(fc.oneof(fc.constant('*'), range(min, max)), step(min, max)).map(([base, size]) => base + size)
const field = (min: number, max: number) =>
  fc.oneof(fc.constant('*'), number(min, max), list(min, max), range(min, max), stepped(min, max))

const names = (...all: string[]) => fc.constantFrom(...all)
const day = fc.oneof({ weight: 4, arbitrary: field(1, 31) }, { weight: 1, arbitrary: fc.constant('L') })
const month = fc.oneof(fc.constant('*'), field(1, 12), names('JAN', 'feb-APR', 'Sep,DEC'))
const weekday = fc.oneof(
  fc.constant('*'),
  field(0, 6),
  names('MON-FRI', 'sun', 'SAT,SUN', '7', '5L', '1#1', '3#5', '5#2'),
)
const fiveFields = fc.tuple(field(0, 59), field(0, 23), day, month, weekday)
const sixFields = fc.tuple(field(0, 59), field(0, 59), field(0, 23), day, month, weekday)
const expressions = fc.oneof(fiveFields, sixFields).map((fields) => fields.join(' '))

const instants = fc.integer({ min: Date.parse('2015-01-01') / 1_000, max: Date.parse('2035-01-01') / 1_000 })
const zones = fc.constantFrom(
  'UTC',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Pacific/Apia',
  ...SHIFTS.map((shift) => shift.timeZone),
)

const ours = (expression: string, timeZone: string, after: number, count: number): number[] =>
  Array.from(fires({ kind: 'cron', expression, timeZone }, { from: new Date(after + 1), count }), Number)

/** What the other library finds. It throws when it gives up, sooner than we do, and for days that no month has. */
function theirs(expression: string, timeZone: string, after: number, count: number): number[] {
  const found: number[] = []
  try {
    const oracle = CronExpressionParser.parse(expression, { currentDate: new Date(after), tz: timeZone })
    while (found.length < count) found.push(oracle.next().getTime())
  } catch (error) {
    if (!/loop limit|out of the time|Invalid explicit day of month/i.test(String(error))) throw error
  }
  return found
}

const isNearShift = (timeZone: string, instant: number): boolean => {
  const [before, after] = [instant - DAY_MS, instant + DAY_MS].map((time) => localTime(time, timeZone) - time)
  return before !== after
}

test('another library finds the same fires where clocks are not changed', () => {
  let compared = 0
  fc.assert(
    fc.property(expressions, zones, instants, (expression, timeZone, second) => {
      const after = second * 1_000
      const expected = theirs(expression, timeZone, after, 3)
      if ([after, ...expected].some((time) => isNearShift(timeZone, time))) return
      compared += expected.length
      expect(ours(expression, timeZone, after, expected.length)).toEqual(expected)
    }),
    { numRuns: 400 },
  )
  expect(compared).toBeGreaterThan(300)
})

/** Its times that are skipped come an hour later than ours, and started between two equal hours it fires in the second, too. */
test('another library finds the same fires where clocks are changed and both mean the same', () => {
  const hourly = fc.tuple(field(0, 59), fc.constant('*')).map((fields) => `${fields.join(' ')} * * *`)
  const fixed = fc.tuple(list(0, 59), list(0, 23)).map((fields) => `${fields.join(' ')} * * *`)
  const wholeHours = SHIFTS.filter(({ timeZone }) => /New_York|Helsinki|Casablanca/.test(timeZone))
  const setBack = wholeHours.filter(({ at }) => /^2026-(02|10|11)/.test(at))
  const cases = fc.oneof(fc.tuple(hourly, fc.constantFrom(...wholeHours)), fc.tuple(fixed, fc.constantFrom(...setBack)))
  fc.assert(
    fc.property(cases, fc.integer({ min: -300, max: -61 }), ([expression, { timeZone, at }], minutes) => {
      const after = Date.parse(at) + minutes * 60_000
      expect(ours(expression, timeZone, after, 8)).toEqual(theirs(expression, timeZone, after, 8))
    }),
    { numRuns: 200 },
  )
})

/** Of a field of our own making: which numbers it means. */
function fits(text: string, value: number): boolean {
  return text.split(',').some((item) => {
    const [span = '', size = '1'] = item.split('/')
    const [first, last = first] = span === '*' ? ['0', '59'] : span.split('-')
    return value >= Number(first) && value <= Number(last) && (value - Number(first)) % Number(size) === 0
  })
}

test('days are those that a look at the calendar finds', () => {
  const either = (day: string, weekday: string, at: Date): boolean => {
    const [isDay, isWeekday] = [fits(day, at.getUTCDate()), fits(weekday, at.getUTCDay())]
    return day === '*' || weekday === '*' ? isDay && isWeekday : isDay || isWeekday
  }
  const listed = fc.oneof(
    field(1, 31),
    list(1, 31),
    fc.tuple(list(1, 3), list(28, 31)).map((lists) => lists.join(',')),
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.tuple(listed, fc.constant('*')),
        fc.tuple(listed, list(0, 6)),
        fc.tuple(fc.constant('*'), list(0, 6)),
      ),
      fc.oneof(fc.constant('*'), list(1, 12)),
      fc.integer({ min: 2_015, max: 2_035 }),
      ([day, weekday], month, year) => {
        const range = { from: new Date(Date.UTC(year, 0)), to: new Date(Date.UTC(year, 14)) }
        const expected: number[] = []
        for (let time = Number(range.from); time <= Number(range.to); time += DAY_MS) {
          const at = new Date(time)
          const isDue = fits(month, at.getUTCMonth() + 1) && either(day.replace('*/', '1-31/'), weekday, at)
          if (isDue) expected.push(time)
        }
        const timing = { kind: 'cron', expression: `0 0 ${day} ${month} ${weekday}`, timeZone: 'UTC' } as const
        expect(Array.from(fires(timing, range), Number)).toEqual(expected)
      },
    ),
    { numRuns: 100 },
  )
})

test('where clocks are changed, fires are those of somebody who watches the clock', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...SHIFTS),
      fc.oneof(
        fc.tuple(field(0, 59), fc.oneof(field(0, 23), range(0, 4), number(0, 4))),
        fc.tuple(list(0, 59), fc.oneof(list(0, 4), list(21, 23))),
      ),
      fc.integer({ min: -300, max: 300 }),
      ({ timeZone, at }, [minute, hour], minutes) => {
        const isDue = (local: number): boolean =>
          fits(minute, new Date(local).getUTCMinutes()) && fits(hour, new Date(local).getUTCHours())
        const isFixed = /^[\d,]+$/.test(minute + hour)
        const from = Date.parse(at) + minutes * 60_000
        const to = from + 8 * 3_600_000
        const expected = firesByMinute({ timeZone, from, to }, isFixed ? { fixed: isDue } : { frequent: isDue })
        const range = { from: new Date(from), to: new Date(to) }
        const timing = { kind: 'cron', expression: `${minute} ${hour} * * *`, timeZone } as const
        expect(Array.from(fires(timing, range), Number)).toEqual(expected)
      },
    ),
    { numRuns: 150 },
  )
})
