import { nextFire, timingOf } from 'millrace'
import { expect, test } from 'vitest'
import { villageContracts } from '#src/contracts'
import { payloadAt, stockSchedule } from '#src/stocks/schedule'
import { config } from '../support/setup.ts'

const clock = { now: () => new Date('2026-11-18T00:00:00Z') }
const { when } = stockSchedule({ contracts: villageContracts(config()), clock })
const timing = timingOf(when, { now: clock.now() })

test('quotes are looked at every 5 minutes in session, else hourly, and every 6 hours on days without trading', () => {
  // A Wednesday; Thanksgiving, a holiday; a Saturday; the Friday between them, with an early close.
  expect(ticks('2026-11-18')).toHaveLength(79 + 17)
  expect(ticks('2026-11-26')).toEqual(['00:00', '06:00', '12:00', '18:00'])
  expect(ticks('2026-11-28')).toEqual(['00:00', '06:00', '12:00', '18:00'])
  const friday = ticks('2026-11-27')
  expect(friday.slice(8, 14)).toEqual(['08:00', '09:00', '09:30', '09:35', '09:40', '09:45'])
  expect(friday.at(-1)).toBe('23:00')
})

test('the session follows the clock of New York through a week of daylight saving', () => {
  const opening = (day: string) =>
    firesOf(day)
      .find((at) => at.getUTCMinutes() === 30)
      ?.toISOString()
  expect(opening('2027-03-12')).toBe('2027-03-12T14:30:00.000Z')
  expect(opening('2027-03-15')).toBe('2027-03-15T13:30:00.000Z')
})

test('after an early close the ticks of the afternoon skip and say why, except on the full hour', () => {
  const at = (time: string) => payloadAt(new Date(`2026-11-27T${time}:00-05:00`))
  expect(at('12:55')).toEqual({ session: 'market' })
  expect(at('13:00')).toEqual({ session: 'market' })
  expect(at('13:05')).toMatchObject({ reason: 'the exchange closed at 13:00' })
  expect(at('15:55')).toMatchObject({ reason: 'the exchange closed at 13:00' })
  expect(at('14:00')).toEqual({ session: 'after_hours' })
  expect(payloadAt(new Date('2026-11-26T12:00:00-05:00'))).toEqual({ session: 'weekend' })
})

/** The fire times of a day in New York. */
function firesOf(day: string): Date[] {
  const fires: Date[] = []
  let at = nextFire(timing, new Date(Date.parse(`${day}T00:00:00Z`)))
  while (at !== undefined && dayOf(at) <= day) {
    if (dayOf(at) === day) fires.push(at)
    at = nextFire(timing, at)
  }
  return fires
}

const ticks = (day: string): string[] => firesOf(day).map(timeOf)
const zone = { timeZone: 'America/New_York' } as const
const dayOf = (at: Date): string => at.toLocaleDateString('en-CA', zone)
const timeOf = (at: Date): string => at.toLocaleTimeString('en-GB', { ...zone, hour: '2-digit', minute: '2-digit' })
