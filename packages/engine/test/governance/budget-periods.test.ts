// Months, days and full hours as the database reckons them, against the calendar that Node has.
import fc from 'fast-check'
import { defineBudget } from 'millrace'
import { expect, test } from 'vitest'
import { budgetLook } from '#src/store/budgets'
import { Database } from '#src/store/db'
import { setup } from '../support/setup.ts'

const zones = ['UTC', 'Europe/Helsinki', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland', 'America/Sao_Paulo']
const HOUR_MS = 3_600_000

async function looking() {
  const t = await setup()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 2 })
  return {
    async at(now: Date | string, timeZone: string, per: 'month' | 'day' = 'month', period: string | null = null) {
      const budget = defineBudget('b', { limit: 100, per, timeZone })
      const [row] = await budgetLook(db, new Date(now), [budget], period)
      return row as NonNullable<typeof row>
    },
    async [Symbol.asyncDispose]() {
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

/** '2026-11-15 14:30:05' on a wall in that zone. */
function wall(at: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(at)
}

test('the period of a moment is the month or day on the wall of its zone, which it begins and ends', async () => {
  await using t = await looking()
  const moment = fc.date({ min: new Date('2000-01-01'), max: new Date('2037-12-31'), noInvalidDate: true })
  await fc.assert(
    fc.asyncProperty(moment, fc.constantFrom(...zones), fc.constantFrom('month', 'day'), async (at, zone, per) => {
      const row = await t.at(at, zone, per)
      const size = per === 'month' ? 7 : 10
      expect(row.period).toBe(wall(at, zone).slice(0, size))
      expect(row.startsAt <= at && at < row.endsAt).toBe(true)
      expect(wall(row.startsAt, zone).slice(0, size)).toBe(row.period)
      expect(wall(new Date(row.startsAt.getTime() - 1), zone).slice(0, size)).not.toBe(row.period)
      expect(wall(new Date(row.endsAt.getTime() - 1), zone).slice(0, size)).toBe(row.period)
      expect(wall(row.endsAt, zone).slice(0, size)).not.toBe(row.period)
      // Asked for by name, it is the same one.
      expect(await t.at('2026-01-01', zone, per, row.period)).toMatchObject({
        period: row.period,
        startsAt: row.startsAt,
        endsAt: row.endsAt,
      })
    }),
    { numRuns: 150 },
  )
}, 60_000)

test('a job that waits is tried at the next full hour of the zone, at most an hour later', async () => {
  await using t = await looking()
  const moment = fc.date({ min: new Date('2020-01-01'), max: new Date('2030-12-31'), noInvalidDate: true })
  await fc.assert(
    fc.asyncProperty(moment, fc.constantFrom(...zones), async (at, zone) => {
      const { nextHourAt } = await t.at(at, zone)
      const waitMs = nextHourAt.getTime() - at.getTime()
      expect(waitMs > 0 && waitMs <= HOUR_MS).toBe(true)
      expect(wall(nextHourAt, zone).slice(14)).toBe('00:00')
    }),
    { numRuns: 100 },
  )
}, 60_000)

test.each([
  ['2026-01-31T23:59:59.999Z', 'UTC', '2026-01', '2026-02-01T00:00:00.000Z'],
  ['2026-02-01T00:00:00.000Z', 'UTC', '2026-02', '2026-03-01T00:00:00.000Z'],
  ['2028-02-29T12:00:00.000Z', 'UTC', '2028-02', '2028-03-01T00:00:00.000Z'],
  ['2026-12-31T22:00:00.000Z', 'Europe/Helsinki', '2027-01', '2027-01-31T22:00:00.000Z'],
  ['2026-11-01T03:59:59.000Z', 'America/New_York', '2026-10', '2026-11-01T04:00:00.000Z'],
  ['2026-03-31T20:59:59.000Z', 'Europe/Helsinki', '2026-03', '2026-03-31T21:00:00.000Z'],
])('at %s in %s it is %s until %s', async (at, zone, period, endsAt) => {
  await using t = await looking()
  const row = await t.at(at, zone)
  expect({ period: row.period, endsAt: row.endsAt.toISOString() }).toEqual({ period, endsAt })
})
