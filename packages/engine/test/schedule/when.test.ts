import { expect, test } from 'vitest'
import { InvalidDefinition } from '#src/errors'
import { describe } from '#src/schedule/describe'
import { fires } from '#src/schedule/next-fire'
import { type CalendarRuleOptions, calendar, checkWhen, cron, every, timingOf } from '#src/schedule/when'

const NOW = new Date('2026-01-01T00:00Z')

test('what authors write is plain data, in UTC unless they say otherwise', () => {
  expect(cron('0 8 * * *')).toEqual({ kind: 'cron', expression: '0 8 * * *', timeZone: 'UTC' })
  expect(cron('0 8 * * *', { timeZone: 'Asia/Kolkata' })).toMatchObject({ timeZone: 'Asia/Kolkata' })
  const rules = [{ days: 'fri-mon, WED, holidays', every: '90m' }] as const
  const given = calendar({ rules, holidays: ['2028-02-29'] })
  expect(given).toEqual({
    kind: 'calendar',
    timeZone: 'UTC',
    rules: [{ days: [0, 1, 3, 5, 6], from: '00:00', to: '24:00', everyMs: 5_400_000, onHolidays: true }],
    holidays: ['2028-02-29'],
  })
  expect(JSON.parse(JSON.stringify(given))).toEqual(given)
  expect(timingOf(given, { now: NOW })).toEqual(given)
})

test('an interval begins one interval after it was first written, or after its initial delay', () => {
  const start = (when: ReturnType<typeof every>) => timingOf(when, { now: NOW })
  expect(start(every('1h'))).toEqual({ kind: 'every', everyMs: 3_600_000, startsAt: '2026-01-01T01:00:00.000Z' })
  expect(start(every('1h', { initialDelay: '1m' }))).toMatchObject({ startsAt: '2026-01-01T00:01:00.000Z' })
  expect(start(every('1h', { initialDelay: 0 }))).toMatchObject({ startsAt: '2026-01-01T00:00:00.000Z' })
})

test('with an initial delay a cron expression does not fire before it is over', () => {
  const when = cron('0 * * * *', { initialDelay: '90m' })
  expect(when).toMatchObject({ initialDelayMs: 5_400_000 })
  const timing = timingOf(when, { now: NOW })
  expect(timing).toEqual({
    kind: 'cron',
    expression: '0 * * * *',
    timeZone: 'UTC',
    startsAt: '2026-01-01T01:30:00.000Z',
  })
  const from = [...fires(timing, { from: NOW, count: 2 })].map((at) => at.toISOString().slice(11, 16))
  expect(from).toEqual(['02:00', '03:00'])
  expect([
    ...fires(timingOf(cron('0 * * * *', { initialDelay: '1h' }), { now: NOW }), { from: NOW, count: 1 }),
  ]).toEqual([new Date('2026-01-01T01:00Z')])
  expect(() => cron('0 * * * *', { initialDelay: -1 })).toThrow(/initialDelay is -1/)
  expect(() => checkWhen({ ...when, initialDelayMs: -1 })).toThrow(/initialDelayMs is -1/)
})

test.each([
  ['61 * * * *', /minute field has "61", which is not one of its values\. Expected 0 to 59.*for example \*\/15/],
  ['0 8,24 * * *', /hour field has "24"/],
  ['0 22-2 * * *', /hour field has "22-2", which goes backwards: write 22-23,0-2/],
  ['*/90 * * * *', /minute field has "\*\/90", whose step is 90, where 1 to 59 is possible.*every\('90m'\)/],
  ['*/0 * * * *', /step is 0/],
  ['5/15 * * * *', /can mean two things: write 5-59\/15, or \*\/15/],
  ['0 0 0 * *', /day field has "0".*1 to 31, also as list, range or step, L, LW or 15W/],
  ['0 0 L-3 * *', /day field has "L-3", where "L" is not one of its values/],
  ['0 0 1,LW * *', /day field has "LW"/],
  ['0 0 * JANUARY *', /month field has "JANUARY".*1 to 12 or JAN to DEC.*JAN-MAR/],
  ['0 0 * * 8', /weekday field has "8".*0 to 7 \(0 and 7 are Sunday\) or SUN to SAT.*MON-FRI/],
  ['0 0 * * FRI#6', /weekday field has "FRI#6"/],
  ['0 0 * * L', /weekday field has "L"/],
  ['0 0 0 ? * 0', /weekday field has "0".*1 to 7 \(1 is Sunday\)/],
  ['0 0 8 * * ? 1999-2150', /year field has "1999-2150", where "2150" is not one/],
  ['0 0 8,, * * ?', /hour field has ""/],
  ['* *', /it has 2 fields\. Expected 5 fields/],
  ['', /Expected 5 fields/],
  ['0 8 * * ?', /`\?` belongs to the Quartz form, which begins with seconds, like '0 0 8 \* \* \?'/],
  ['0 0 8 ? * ?', /exactly one of day and weekday is `\?`/],
  ['0 10 * * ? *', /exactly one of day and weekday is `\?`/],
  ['0 0 8 * * * 2026', /7 fields are the Quartz form/],
  ['@dayly', /no such nickname\. Did you mean "@daily"\?/],
  ['@every 5m', /Intervals are not cron: write every\('15m'\)/],
  ['0 0 31 4,6,9,11 *', /never fires: no day of the calendar fits/],
])('a wrong expression is explained: %s', (expression, message) => {
  expect(() => cron(expression)).toThrow(InvalidDefinition)
  expect(() => cron(expression)).toThrow(message)
})

test.each([
  ['Europe/Helsinky', 'Did you mean "Europe/Helsinki"?'],
  ['helsinki', 'Did you mean "Europe/Helsinki"?'],
  ['New York', 'Did you mean "America/New_York"?'],
  ['UTD', 'Did you mean "UTC"?'],
  ['+02:00', "like 'Europe/Helsinki' or 'UTC'"],
  ['', "like 'Europe/Helsinki' or 'UTC'"],
])('an unknown time zone is explained: %s', (timeZone, message) => {
  expect(() => cron('0 8 * * *', { timeZone })).toThrow(message)
  expect(() => calendar({ timeZone, rules: [{ days: 'mon', every: '1h' }] })).toThrow(InvalidDefinition)
})

test('wrong intervals are explained', () => {
  expect(() => every('999ms')).toThrow(/every\(…\) is "999ms": a second is the least/)
  expect(() => every('soon' as '1s')).toThrow(/not a duration/)
  expect(() => every('1h', { initialDelay: -1 })).toThrow(/initialDelay is -1/)
})

test.each<[Partial<CalendarRuleOptions>, RegExp]>([
  [{ days: 'mon-fry' }, /days of rules\[0\] of a calendar is "mon-fry", where "mon-fry" is not known.*'mon-fri'/],
  [{ days: '' }, /where "" is not known/],
  [{ from: '9:30' }, /from of rules\[0\] of a calendar is "9:30"\. Expected a time of day, like '09:30'/],
  [{ from: '24:00' }, /from of rules\[0\]/],
  [{ to: '24:01' }, /to of rules\[0\]/],
  [{ from: '22:00', to: '06:00' }, /beyond midnight\. Write two rules/],
  [{ every: '10ms' }, /every of rules\[0\] of a calendar is "10ms": a second is the least/],
])('a wrong rule of a calendar is explained: %j', (part, message) => {
  expect(() => calendar({ rules: [{ days: 'mon-fri', every: '1h', ...part }] })).toThrow(message)
})

test('a calendar without rules, and a holiday that is no day, are refused', () => {
  expect(() => calendar({ rules: [] })).toThrow(/has no rules\. Expected one at least/)
  const rules = [{ days: 'mon', every: '1h' }] as const
  for (const day of ['2026-02-29', '2026-2-1', 'christmas', '2026-13-01'])
    expect(() => calendar({ rules, holidays: [day] })).toThrow(`There is no day "${day}"`)
})

test('a timing is described in a sentence', () => {
  const interval = (...given: Parameters<typeof every>) => describe(timingOf(every(...given), { now: NOW }))
  expect(interval('5m')).toBe('every 5 minutes')
  expect(interval('1h')).toBe('every hour')
  expect(interval('90m')).toBe('every 90 minutes')
  expect(interval('2d')).toBe('every 2 days')
  expect(interval(1_500)).toBe('every 1500 ms')
  const timeZone = 'Europe/Helsinki'
  expect(describe(cron('0 8 * * *', { timeZone }))).toBe('at 08:00 every day, Europe/Helsinki')
  expect(describe(cron('0 0 8 * * ?', { timeZone }))).toBe('at 08:00 every day, Europe/Helsinki')
  expect(describe(cron('*/15 * * * *'))).toBe('every 15 minutes')
  expect(describe(cron('*/7 * * * *'))).toBe('cron */7 * * * *, UTC')
  expect(describe(cron('0 8 * * MON', { timeZone }))).toBe('cron 0 8 * * MON, Europe/Helsinki')
  expect(describe(cron('0 5 8 * * MON'))).toBe('cron 0 5 8 * * MON, UTC')
  const market = calendar({
    rules: [
      { days: 'mon-fri', from: '09:30', to: '16:00', every: '5m' },
      { days: 'sat,sun,holidays', every: '6h' },
    ],
  })
  expect(describe(market)).toBe(
    'every 5 minutes from 09:30 to 16:00 on Mon–Fri; every 6 hours on Sat, Sun, holidays; UTC',
  )
})

test.each([
  [{ kind: 'every', everyMs: 1, initialDelayMs: 0 }, /everyMs is 1: a second is the least/],
  [{ kind: 'every', everyMs: 1_000.5, initialDelayMs: 0 }, /everyMs is 1000.5. Expected whole milliseconds/],
  [{ kind: 'every', everyMs: '1m', initialDelayMs: 0 }, /everyMs is "1m". Expected whole/],
  [{ kind: 'every', everyMs: 60_000 }, /initialDelayMs is undefined/],
  [{ kind: 'hourly' }, /nobody understands/],
  [null, /nobody understands/],
  [{ kind: 'cron', expression: '99 * * * *', timeZone: 'UTC' }, /99/],
  [{ kind: 'cron', expression: '* * * * *', timeZone: 'Mars' }, /There is no time zone "Mars"/],
  [{ kind: 'cron', timeZone: 'UTC' }, /cron expression/],
  [{ kind: 'calendar', timeZone: 'UTC', rules: [], holidays: [] }, /no rules/],
  [
    {
      kind: 'calendar',
      timeZone: 'UTC',
      rules: [{ days: [7], from: '00:00', to: '24:00', everyMs: 60_000 }],
      holidays: [],
    },
    /days of rules\[0\]/,
  ],
  [
    {
      kind: 'calendar',
      timeZone: 'UTC',
      rules: [{ days: [1], from: '9', to: '24:00', everyMs: 60_000 }],
      holidays: [],
    },
    /from of rules\[0\]/,
  ],
  [
    { kind: 'calendar', timeZone: 'UTC', rules: [{ days: [1], from: '00:00', to: '24:00', everyMs: 5 }], holidays: [] },
    /everyMs of rules\[0\]/,
  ],
])('plain data is checked before it is stored: %j', (when, message) => {
  expect(() => timingOf(when as never, { now: new Date() })).toThrow(InvalidDefinition)
  expect(() => timingOf(when as never, { now: new Date() })).toThrow(message)
})
