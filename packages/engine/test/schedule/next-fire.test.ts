import { expect, test } from 'vitest'
import { fires, nextFire } from '#src/schedule/next-fire'
import type { Timing } from '#src/schedule/timing'

const cron = (expression: string, timeZone = 'UTC'): Timing => ({ kind: 'cron', expression, timeZone })

/** Fires strictly after a time, as '2026-03-08T07:00Z'. */
function after(timing: Timing, time: string, count: number): string[] {
  const from = new Date(Date.parse(time) + 1)
  return Array.from(fires(timing, { from, count }), (fire) => fire.toISOString().replace(/:00\.000Z$/, 'Z'))
}

/** Zone, expression, after, fires. Each was worked out by hand from the zone's rules. */
const shifts: [string, [expression: string, after: string, fires: string[]][]][] = [
  [
    'America/New_York', // 8 March 2026 02:00 → 03:00 at 07:00Z; 1 November 2026 02:00 → 01:00 at 06:00Z
    [
      ['30 2 * * *', '2026-03-07T12:00Z', ['2026-03-08T07:00Z', '2026-03-09T06:30Z']],
      ['30 1,2 * * *', '2026-03-08T06:00Z', ['2026-03-08T06:30Z', '2026-03-08T07:00Z', '2026-03-09T05:30Z']],
      ['0,30 2,3 * * *', '2026-03-08T06:59Z', ['2026-03-08T07:00Z', '2026-03-08T07:30Z', '2026-03-09T06:00Z']],
      ['*/30 2 * * *', '2026-03-07T12:00Z', ['2026-03-09T06:00Z']],
      ['0 * * * *', '2026-03-08T05:30Z', ['2026-03-08T06:00Z', '2026-03-08T07:00Z', '2026-03-08T08:00Z']],
      ['30 1 * * *', '2026-10-31T12:00Z', ['2026-11-01T05:30Z', '2026-11-02T06:30Z']],
      ['30 1 * * *', '2026-11-01T06:10Z', ['2026-11-02T06:30Z']],
      ['30 1 * * *', '2026-11-01T05:30Z', ['2026-11-02T06:30Z']],
      ['0 2 * * *', '2026-10-31T12:00Z', ['2026-11-01T07:00Z', '2026-11-02T07:00Z']],
      [
        '*/30 1 * * *',
        '2026-11-01T04:59Z',
        ['2026-11-01T05:00Z', '2026-11-01T05:30Z', '2026-11-01T06:00Z', '2026-11-01T06:30Z', '2026-11-02T06:00Z'],
      ],
      ['0 * * * *', '2026-11-01T04:30Z', ['2026-11-01T05:00Z', '2026-11-01T06:00Z', '2026-11-01T07:00Z']],
    ],
  ],
  [
    'Europe/Helsinki', // 29 March 2026 03:00 → 04:00 and 25 October 2026 04:00 → 03:00, both at 01:00Z
    [
      ['30 3 * * *', '2026-03-28T12:00Z', ['2026-03-29T01:00Z', '2026-03-30T00:30Z']],
      ['30 3 * * *', '2026-10-24T12:00Z', ['2026-10-25T00:30Z', '2026-10-26T01:30Z']],
      ['0 0 8 * * ?', '2026-03-27T12:00Z', ['2026-03-28T06:00Z', '2026-03-29T05:00Z']],
      ['*/40 3 * * *', '2026-10-24T12:00Z', ['2026-10-25T00:00Z', '2026-10-25T00:40Z', '2026-10-25T01:00Z']],
    ],
  ],
  [
    'Australia/Lord_Howe', // 5 April 2026 02:00 → 01:30 at 15:00Z of the 4th; 4 October 02:00 → 02:30 at 15:30Z of the 3rd
    [
      ['15 2 * * *', '2026-10-02T16:00Z', ['2026-10-03T15:30Z', '2026-10-04T15:15Z']],
      ['45 1 * * *', '2026-04-03T20:00Z', ['2026-04-04T14:45Z', '2026-04-05T15:15Z']],
      [
        '*/15 1 * * *',
        '2026-04-04T14:30Z',
        ['2026-04-04T14:45Z', '2026-04-04T15:00Z', '2026-04-04T15:15Z', '2026-04-05T14:30Z'],
      ],
      ['*/15 2 * * *', '2026-10-03T12:00Z', ['2026-10-03T15:30Z', '2026-10-03T15:45Z', '2026-10-04T15:00Z']],
    ],
  ],
  ['Asia/Kolkata', [['0 8 * * *', '2026-03-29T00:00Z', ['2026-03-29T02:30Z', '2026-03-30T02:30Z']]]],
  ['Asia/Kathmandu', [['0 8 * * *', '2026-03-29T00:00Z', ['2026-03-29T02:15Z', '2026-03-30T02:15Z']]]],
  [
    'Pacific/Apia', // 30 December 2011 did not exist: UTC-10 became UTC+14
    [
      ['0 8 * * *', '2011-12-29T12:00Z', ['2011-12-29T18:00Z', '2011-12-30T18:00Z', '2011-12-31T18:00Z']],
      ['0 8 30 12 *', '2011-12-01T00:00Z', ['2012-12-29T18:00Z']],
      ['0 * * * *', '2011-12-30T08:30Z', ['2011-12-30T09:00Z', '2011-12-30T10:00Z']],
    ],
  ],
  [
    'America/Sao_Paulo', // 4 November 2018 00:00 → 01:00 at 03:00Z; 18 February 2018 00:00 → 23:00 at 02:00Z
    [
      ['0 0 * * *', '2018-11-03T12:00Z', ['2018-11-04T03:00Z', '2018-11-05T02:00Z']],
      ['30 23 * * *', '2018-02-17T12:00Z', ['2018-02-18T01:30Z', '2018-02-19T02:30Z']],
      ['0 0 * * *', '2018-02-17T12:00Z', ['2018-02-18T03:00Z']],
    ],
  ],
  [
    'Africa/Cairo', // 24 April 2026 00:00 → 01:00 at 22:00Z of the 23rd; 30 October 2026 00:00 → 23:00 at 21:00Z of the 29th
    [
      ['0 0 * * *', '2026-04-23T00:00Z', ['2026-04-23T22:00Z', '2026-04-24T21:00Z']],
      ['30 23 * * *', '2026-10-29T12:00Z', ['2026-10-29T20:30Z', '2026-10-30T21:30Z']],
    ],
  ],
  [
    'Africa/Casablanca', // Ramadan: 15 February 2026 03:00 → 02:00 and 22 March 2026 02:00 → 03:00, both at 02:00Z
    [
      ['30 2 * * *', '2026-02-14T12:00Z', ['2026-02-15T01:30Z', '2026-02-16T02:30Z']],
      ['30 2 * * *', '2026-03-21T12:00Z', ['2026-03-22T02:00Z', '2026-03-23T01:30Z']],
    ],
  ],
]

for (const [zone, rows] of shifts) {
  test.each(rows)(`${zone}: %s after %s`, (expression, time, expected) => {
    expect(after(cron(expression, zone), time, expected.length)).toEqual(expected)
  })
}

/** In UTC, from the first day of 2026, which is a Thursday: the first days on which it fires. */
test.each([
  ['a leap day', '0 0 29 2 *', ['2028-02-29', '2032-02-29']],
  [
    'the 31st, where there is one',
    '0 0 31 * *',
    ['2026-01-31', '2026-03-31', '2026-05-31', '2026-07-31', '2026-08-31'],
  ],
  ['the 1st and the 30th, around February', '0 0 1,30 * *', ['2026-01-30', '2026-02-01', '2026-03-01', '2026-03-30']],
  ['2 March, too', '0 0 2,31 * *', ['2026-01-02', '2026-01-31', '2026-02-02', '2026-03-02']],
  ['the last day of a month', '0 0 L * *', ['2026-01-31', '2026-02-28', '2026-03-31']],
  ['the last day and the first', '0 0 1,L * *', ['2026-01-31', '2026-02-01', '2026-02-28']],
  ['the last weekday of a month', '0 0 LW * *', ['2026-01-30', '2026-02-27', '2026-03-31']],
  ['the weekday nearest to the 15th', '0 0 15W * *', ['2026-01-15', '2026-02-16', '2026-03-16']],
  ['the weekday nearest to the 1st, never in the month before', '0 0 1W 8 *', ['2026-08-03']],
  ['the last Friday', '0 0 * * FRIL', ['2026-01-30', '2026-02-27', '2026-03-27']],
  ['the first Monday', '0 0 * * MON#1', ['2026-01-05', '2026-02-02', '2026-03-02']],
  ['either of two days', '0 0 13 * FRI', ['2026-01-02', '2026-01-09', '2026-01-13', '2026-01-16']],
  ['Sunday as 7', '0 0 * * 7', ['2026-01-04', '2026-01-11']],
  [
    'a weekend from Friday to Monday',
    '0 0 * * fri-mon',
    ['2026-01-02', '2026-01-03', '2026-01-04', '2026-01-05', '2026-01-09'],
  ],
  ['0-7 as the whole week', '0 0 * * 0-7', ['2026-01-02', '2026-01-03']],
  ['months by name', '0 0 1 feb,APR-May *', ['2026-02-01', '2026-04-01', '2026-05-01', '2027-02-01']],
  ['Quartz: 2 is Monday, 6 is Friday', '0 0 0 ? * 2-6', ['2026-01-02', '2026-01-05']],
  ['Quartz: 1 is Sunday', '0 0 0 ? * 1', ['2026-01-04']],
  ['Quartz: 7 and L are Saturday', '0 0 0 ? * 7,L', ['2026-01-03', '2026-01-10']],
  ['Quartz: names', '0 0 0 ? * SAT-SUN', ['2026-01-03', '2026-01-04', '2026-01-10']],
  ['Quartz: the last Friday', '0 0 0 ? * 6L', ['2026-01-30', '2026-02-27']],
  ['Quartz: the third Friday', '0 0 0 ? * 6#3', ['2026-01-16', '2026-02-20']],
  ['Quartz: years', '0 0 0 1 1 ? 2028,2030', ['2028-01-01', '2030-01-01']],
  ['Quartz: every fourth year, from 1970', '0 0 0 1 6 ? */4', ['2026-06-01', '2030-06-01']],
  [
    'Quartz: every second day from the 28th',
    '0 0 0 28/2 * ?',
    ['2026-01-28', '2026-01-30', '2026-02-28', '2026-03-28'],
  ],
  ['@monthly', '@monthly', ['2026-02-01', '2026-03-01']],
  ['@Weekly', '@Weekly', ['2026-01-04', '2026-01-11']],
  ['@yearly', '@yearly', ['2027-01-01']],
])('%s: %s', (_what, expression, days) => {
  expect(after(cron(expression), '2026-01-01T00:00Z', days.length)).toEqual(days.map((day) => `${day}T00:00Z`))
})

test('seconds stand in front', () => {
  expect(nextFire(cron('*/20 * * * * *'), new Date('2026-01-01T00:00:20.001Z'))).toEqual(
    new Date('2026-01-01T00:00:40Z'),
  )
  expect(nextFire(cron('15 0/30 * * * ?'), new Date('2026-01-01T00:00:15Z'))).toEqual(new Date('2026-01-01T00:30:15Z'))
})

test('an interval counts from its first fire, whatever clocks do', () => {
  const timing: Timing = { kind: 'every', everyMs: 90_000, startsAt: '2026-01-01T00:01:00Z' }
  expect(after(timing, '2025-12-01T00:00Z', 2)).toEqual(['2026-01-01T00:01Z', '2026-01-01T00:02:30.000Z'])
  expect(after(timing, '2026-01-01T00:01Z', 1)).toEqual(['2026-01-01T00:02:30.000Z'])
  expect(after(timing, '2026-01-01T00:02:29.999Z', 1)).toEqual(['2026-01-01T00:02:30.000Z'])
})

test('both ends of a range count', () => {
  const range = { from: new Date('2026-01-01T08:00Z'), to: new Date('2026-01-03T08:00Z') }
  expect(Array.from(fires(cron('0 8 * * *'), range))).toHaveLength(3)
  expect(Array.from(fires(cron('0 8 * * *'), { ...range, count: 2 }))).toHaveLength(2)
})

test.each([
  ['30 February', cron('0 0 30 2 *')],
  ['30 February, in every second of it', cron('* * * 30 2 *')],
  ['a weekday near 31 February', cron('0 0 31W 2 *')],
  ['a year that is over', cron('0 0 8 * * ? 2025')],
  ['no time but in gaps', cron('0 */15 2 ? 3 SUN#2', 'America/New_York')],
])('what never fires ends at once: %s', (_what, timing) => {
  const start = performance.now()
  expect(nextFire(timing, new Date('2026-01-01T00:00Z'))).toBeUndefined()
  expect(performance.now() - start).toBeLessThan(1_000)
})

test('a thousand fires are found in less than two seconds', () => {
  const start = performance.now()
  const found = Array.from(
    fires(cron('*/15 * * * *', 'America/New_York'), { from: new Date('2026-03-01'), count: 1_000 }),
  )
  expect(found.at(-1)).toEqual(new Date('2026-03-11T09:45Z'))
  expect(performance.now() - start).toBeLessThan(2_000)
})
