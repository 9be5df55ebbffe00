import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fires, nextFire } from '#src/schedule/next-fire'
import type { CalendarRule, CalendarTiming, Weekday } from '#src/schedule/timing'
import { calendar } from '#src/schedule/when'
import { firesByMinute, SHIFTS } from './local-clock.ts'

const market = calendar({
  timeZone: 'America/New_York',
  rules: [
    { days: 'mon-fri', from: '09:30', to: '16:00', every: '5m' },
    { days: 'mon-fri', every: '1h' },
    { days: 'sat,sun,holidays', every: '6h' },
  ],
  holidays: ['2026-11-26', '2026-12-25'],
})

const between = (timing: CalendarTiming, from: string, to: string): string[] =>
  Array.from(fires(timing, { from: new Date(from), to: new Date(to) }), (fire) => fire.toISOString().slice(0, 16))

test('a market has its own interval in opening hours, after hours, at weekends and on holidays', () => {
  // Monday, UTC-5: midnight to 09:00 hourly, 09:30 to 16:00 every five minutes, then hourly.
  expect(between(market, '2026-11-23T05:00Z', '2026-11-24T04:59Z')).toHaveLength(10 + 79 + 7)
  expect(between(market, '2026-11-23T13:30Z', '2026-11-23T14:36Z')).toEqual([
    '2026-11-23T14:00',
    '2026-11-23T14:30',
    '2026-11-23T14:35',
  ])
  expect(between(market, '2026-11-23T20:51Z', '2026-11-23T22:30Z')).toEqual([
    '2026-11-23T20:55',
    '2026-11-23T21:00',
    '2026-11-23T22:00',
  ])
  const everySixHours = ['05:00', '11:00', '17:00', '23:00']
  for (const day of ['2026-11-26', '2026-11-28', '2026-11-29'])
    expect(between(market, `${day}T05:00Z`, `${day}T23:59Z`)).toEqual(everySixHours.map((time) => `${day}T${time}`))
})

test('at the weekend on which clocks are changed, times of day stay as they are', () => {
  // 8 March: 00:00 is 05:00Z, the others are an hour earlier than before. 1 November: the other way round.
  expect(between(market, '2026-03-08T00:00Z', '2026-03-08T23:59Z')).toEqual(
    ['05:00', '10:00', '16:00', '22:00'].map((time) => `2026-03-08T${time}`),
  )
  expect(between(market, '2026-11-01T03:00Z', '2026-11-01T23:59Z')).toEqual(
    ['04:00', '11:00', '17:00', '23:00'].map((time) => `2026-11-01T${time}`),
  )
})

test('holidays that no rule names are skipped', () => {
  const office = calendar({
    rules: [{ days: 'mon-fri', from: '08:00', to: '08:00', every: '1d' }],
    holidays: ['2026-12-25'],
  })
  expect(between(office, '2026-12-24T00:00Z', '2026-12-29T00:00Z')).toEqual(['2026-12-24T08:00', '2026-12-28T08:00'])
})

test('a calendar of holidays alone ends with the last of them', () => {
  const timing = calendar({ rules: [{ days: 'holidays', every: '12h' }], holidays: ['2030-01-01', '2026-12-25'] })
  expect(between(timing, '2026-12-25T01:00Z', '2040-01-01T00:00Z')).toEqual([
    '2026-12-25T12:00',
    '2030-01-01T00:00',
    '2030-01-01T12:00',
  ])
  expect(nextFire(timing, new Date('2030-01-01T12:00Z'))).toBeUndefined()
})

test('a rule of seconds that an earlier one covers whole is passed over at once', () => {
  const timing = calendar({
    rules: [
      { days: 'mon-sun', from: '00:00', to: '24:00', every: '3d' },
      { days: 'mon-sun', from: '00:00', to: '24:00', every: '1s' },
    ],
    holidays: Array.from({ length: 300 }, (_, i) => new Date(Date.UTC(2026, 0, 1 + i)).toISOString().slice(0, 10)),
  })
  const start = performance.now()
  expect(nextFire(timing, new Date('2026-01-01T00:00Z'))).toEqual(new Date('2026-10-28T00:00Z'))
  expect(performance.now() - start).toBeLessThan(1_000)
})

const MINUTE_MS = 60_000
const clock = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5))

const rules: fc.Arbitrary<CalendarRule> = fc
  .record({
    days: fc.uniqueArray(fc.integer({ min: 0, max: 6 })) as fc.Arbitrary<Weekday[]>,
    ends: fc.uniqueArray(fc.oneof(fc.integer({ min: 0, max: 1_440 }), fc.integer({ min: 0, max: 240 })), {
      minLength: 2,
      maxLength: 2,
    }),
    everyMs: fc.constantFrom(1, 5, 7, 30, 45, 60, 61, 120, 360, 1_440).map((minutes) => minutes * MINUTE_MS),
    onHolidays: fc.boolean(),
  })
  .map(({ days, ends, ...rest }) => ({
    ...{ days, from: clock(Math.min(...ends)), to: clock(Math.max(...ends)) },
    ...rest,
  }))

/** As the words say it: the first rule that covers the moment, and whether whole intervals have passed since its `from`. */
function isDue({ rules, holidays }: CalendarTiming, isLong: boolean): (local: number) => boolean {
  return (local) => {
    const [date = '', time = ''] = new Date(local).toISOString().split('T')
    const minute = minutesOf(time)
    const weekday = new Date(local).getUTCDay() as Weekday
    const rule = rules.find(
      ({ days, onHolidays, from, to }) =>
        (holidays.includes(date) ? onHolidays : days.includes(weekday)) &&
        minute >= minutesOf(from) &&
        minute <= minutesOf(to),
    )
    if (rule === undefined || rule.everyMs > 60 * MINUTE_MS !== isLong) return false
    return (minute - minutesOf(rule.from)) % (rule.everyMs / MINUTE_MS) === 0
  }
}

test('fires are those of somebody who reads the rules every minute', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...SHIFTS),
      fc.array(rules, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: -1_500, max: 300 }),
      fc.array(fc.integer({ min: -1, max: 1 }), { maxLength: 2 }),
      ({ timeZone, at }, rules, minutes, offDays) => {
        const holidays = offDays.map((days) => new Date(Date.parse(at) + days * 86_400_000).toISOString().slice(0, 10))
        const timing: CalendarTiming = { kind: 'calendar', timeZone, rules, holidays }
        const from = Date.parse(at) + minutes * MINUTE_MS
        const to = from + 24 * 3_600_000
        const due = { frequent: isDue(timing, false), fixed: isDue(timing, true) }
        expect(Array.from(fires(timing, { from: new Date(from), to: new Date(to) }), Number)).toEqual(
          firesByMinute({ timeZone, from, to }, due),
        )
      },
    ),
    { numRuns: 60 },
  )
})
