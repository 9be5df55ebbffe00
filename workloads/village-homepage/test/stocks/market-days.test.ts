import { expect, test } from 'vitest'
import { closeOf, earlyClosesOf, exchangeTime, holidaysOf } from '#src/stocks/market-days'

/** As the exchange publishes them. */
const PUBLISHED: Readonly<Record<number, string>> = {
  2024: '01-01 01-15 02-19 03-29 05-27 06-19 07-04 09-02 11-28 12-25',
  2025: '01-01 01-20 02-17 04-18 05-26 06-19 07-04 09-01 11-27 12-25',
  2026: '01-01 01-19 02-16 04-03 05-25 06-19 07-03 09-07 11-26 12-25',
  2027: '01-01 01-18 02-15 03-26 05-31 06-18 07-05 09-06 11-25 12-24',
  2028: '01-17 02-21 04-14 05-29 06-19 07-04 09-04 11-23 12-25',
}
const EARLY: Readonly<Record<number, string>> = {
  2024: '07-03 11-29 12-24',
  2025: '07-03 11-28 12-24',
  2026: '11-27 12-24',
  2027: '11-26',
  2028: '07-03 11-24',
}
const days = (year: number, text = ''): string[] => text.split(' ').map((day) => `${year}-${day}`)

test.each([2024, 2025, 2026, 2027, 2028])(
  'the holidays and early closes of %i are those that are published',
  (year) => {
    expect(holidaysOf(year)).toEqual(days(year, PUBLISHED[year]))
    expect(earlyClosesOf(year)).toEqual(days(year, EARLY[year]))
  },
)

test('trading ends at 16:00, at 13:00 on an early close, and does not begin on a holiday or at a weekend', () => {
  const close = (date: string) => closeOf(date)
  expect([close('2026-11-18'), close('2026-11-27')]).toEqual([16 * 60, 13 * 60])
  expect([close('2026-11-26'), close('2026-11-28'), close('2026-11-29')]).toEqual([undefined, undefined, undefined])
})

test('the time of the exchange follows daylight saving', () => {
  expect(exchangeTime(new Date('2026-07-01T13:30:00Z'))).toEqual({ date: '2026-07-01', minutes: 9 * 60 + 30 })
  expect(exchangeTime(new Date('2026-12-01T14:30:00Z'))).toEqual({ date: '2026-12-01', minutes: 9 * 60 + 30 })
  expect(exchangeTime(new Date('2026-12-01T04:30:00Z'))).toEqual({ date: '2026-11-30', minutes: 23 * 60 + 30 })
})
