import fc from 'fast-check'
import { delays, exponential, fixed, linear } from 'millrace'
import { describe, expect, test } from 'vitest'
import { backoffMs, defaultBackoff, MAX_BACKOFF_MS } from '#src/contract/retry'

const dice = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const wait = (backoff: ReturnType<typeof fixed>, attempt: number, random: number) =>
  backoffMs(backoff, { attempt, random, error: new Error('x') })

describe('the default backoff', () => {
  // The Village table: 23–38 s, 45–75 s, 90–150 s, 180–300 s, 360–600 s.
  test.each([
    [1, 22.5, 37.5],
    [2, 45, 75],
    [3, 90, 150],
    [4, 180, 300],
    [5, 360, 600],
  ])('after attempt %i waits between %d and %d seconds', (attempt, low, high) => {
    fc.assert(
      fc.property(dice, (random) => {
        const seconds = wait(defaultBackoff, attempt, random) / 1_000
        expect(seconds).toBeGreaterThanOrEqual(low)
        expect(seconds).toBeLessThanOrEqual(high)
      }),
    )
    expect(wait(defaultBackoff, attempt, 0) / 1_000).toBeCloseTo(low)
  })
})

describe('exponential', () => {
  // The LIPAS table: 2^(attempt − 1) × 1 s, plus 0–10 %, cap 5 min after the jitter.
  const lipas = exponential({ base: '1s', jitter: { plus: 0.1 }, cap: '5m' })

  test('holds the LIPAS table for every attempt and every throw of the dice', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), dice, (attempt, random) => {
        const ms = wait(lipas, attempt, random)
        const plain = 2 ** (attempt - 1) * 1_000
        expect(ms).toBeGreaterThanOrEqual(Math.min(plain, 300_000))
        expect(ms).toBeLessThanOrEqual(Math.min(plain * 1.1, 300_000))
      }),
    )
  })

  test('never waits longer than the cap, and reaches it', () => {
    expect(wait(lipas, 9, 0)).toBe(256_000)
    expect(wait(lipas, 10, 0)).toBe(300_000)
  })

  test('refuses a jitter that makes no sense', () => {
    expect(() => exponential({ base: '1s', jitter: 3 })).toThrow(/jitter is 3/)
    expect(() => exponential({ base: '1s', factor: 0 })).toThrow(/factor.*above 0/)
  })
})

test.each([1, 25, 310, 1_075, 32_767])('attempt %i overflows no formula', (attempt) => {
  fc.assert(
    fc.property(dice, (random) => {
      for (const backoff of [defaultBackoff, exponential({ base: '1d', factor: 10 }), linear({ base: '7d' })]) {
        const ms = wait(backoff, attempt, random)
        expect(ms).toBeGreaterThanOrEqual(0)
        expect(ms).toBeLessThanOrEqual(MAX_BACKOFF_MS)
      }
    }),
  )
})

test('linear grows by its base', () => {
  expect([1, 2, 3].map((attempt) => wait(linear({ base: '10s' }), attempt, 0.5))).toEqual([10_000, 20_000, 30_000])
})

test('fixed waits the same every time', () => {
  expect([1, 7].map((attempt) => wait(fixed('30s'), attempt, 0.9))).toEqual([30_000, 30_000])
})

test('a list gives one wait per attempt and repeats its last', () => {
  const list = delays(['10s', '30s', '60s'])
  expect([1, 2, 3, 4, 9].map((attempt) => wait(list, attempt, 0))).toEqual([10_000, 30_000, 60_000, 60_000, 60_000])
})

test.each([
  ['not a number', Number.NaN, MAX_BACKOFF_MS],
  ['infinity', Number.POSITIVE_INFINITY, MAX_BACKOFF_MS],
  ['a negative number', -5, 0],
])('a hand-written backoff that answers %s still gives a usable wait', (_, answer, expected) => {
  expect(wait(() => answer, 1, 0)).toBe(expected)
})
