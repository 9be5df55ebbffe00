import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RateWindow, type Starts } from '#src/governance/rate-window'

const asks = fc.array(fc.record({ afterMs: fc.integer({ min: 0, max: 400 }), cost: fc.integer({ min: 1, max: 4 }) }), {
  maxLength: 150,
})
const rates = fc.record({ jobs: fc.integer({ min: 1, max: 20 }), perMs: fc.integer({ min: 100, max: 5_000 }) })

/** Asks one after another, storing what is remembered in between as claims do. */
function started(rate: { jobs: number; perMs: number }, given: readonly { afterMs: number; cost: number }[]) {
  const log: { atMs: number; cost: number }[] = []
  const refused: { atMs: number; cost: number; waitMs: number }[] = []
  let starts: Starts = []
  let atMs = 1_700_000_000_000
  for (const { afterMs, cost } of given) {
    atMs += afterMs
    const window = new RateWindow(rate, starts, atMs)
    if (window.isRoomFor(cost)) {
      window.take(cost)
      log.push({ atMs, cost: Math.min(cost, rate.jobs) })
      starts = JSON.parse(JSON.stringify(window.starts)) as Starts
    } else refused.push({ atMs, cost, waitMs: window.waitFor(cost) })
  }
  return { log, refused, starts }
}

const usedIn = (log: readonly { atMs: number; cost: number }[], fromMs: number, toMs: number): number =>
  log.filter(({ atMs }) => atMs > fromMs && atMs <= toMs).reduce((sum, { cost }) => sum + cost, 0)

describe('a rate', () => {
  test('is exceeded in no stretch of its period, wherever that begins', () => {
    fc.assert(
      fc.property(rates, asks, (rate, given) => {
        const { log } = started(rate, given)
        for (const { atMs } of log) expect(usedIn(log, atMs - rate.perMs, atMs)).toBeLessThanOrEqual(rate.jobs)
      }),
    )
  })

  test('refuses only what a window longer by a thirtieth would not have had room for', () => {
    fc.assert(
      fc.property(rates, asks, (rate, given) => {
        const { log, refused } = started(rate, given)
        for (const { atMs, cost } of refused) {
          const before = log.filter((each) => each.atMs <= atMs)
          const used = usedIn(before, atMs - (rate.perMs * 31) / 30 - 1, atMs)
          expect(used + Math.min(cost, rate.jobs)).toBeGreaterThan(rate.jobs)
        }
      }),
    )
  })

  test('says how long to wait, and then has room', () => {
    fc.assert(
      fc.property(rates, asks, fc.integer({ min: 1, max: 30 }), (rate, given, cost) => {
        const { starts } = started(rate, given)
        const nowMs = 1_700_000_000_000 + given.reduce((sum, { afterMs }) => sum + afterMs, 0)
        const waitMs = new RateWindow(rate, starts, nowMs).waitFor(cost)
        expect(waitMs).toBeLessThanOrEqual((rate.perMs * 31) / 30 + 1)
        expect(new RateWindow(rate, starts, nowMs + waitMs + 0.001).isRoomFor(cost)).toBe(true)
      }),
    )
  })

  test('of nothing never has room', () => {
    const window = new RateWindow({ jobs: 0, perMs: 1_000 }, [], 0)
    expect(window.isRoomFor(1)).toBe(false)
    expect(window.waitFor(1)).toBe(Number.POSITIVE_INFINITY)
  })

  test('lets a job that costs more than it ever allows run alone', () => {
    const window = new RateWindow({ jobs: 5, perMs: 1_000 }, [], 10_000)
    expect(window.isRoomFor(50)).toBe(true)
    window.take(50)
    expect(window.room).toBe(0)
  })

  test('keeps its bound when its period is changed in between', () => {
    const first = new RateWindow({ jobs: 5, perMs: 60_000 }, [], 600_000)
    for (let i = 0; i < 5; i++) first.take(1)
    expect(new RateWindow({ jobs: 5, perMs: 120_000 }, first.starts, 715_000).room).toBe(0)
    expect(new RateWindow({ jobs: 8, perMs: 60_000 }, first.starts, 615_000).room).toBe(3)
  })
})
