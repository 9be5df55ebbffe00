// Levels, thresholds and definitions of budgets: arithmetic without a database.

import fc from 'fast-check'
import { defineBudget, defineJob, defineQueues, InvalidDefinition } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { checkAmount, checkPeriod } from '#src/contract/budget'
import { Registry } from '#src/contract/registry'
import {
  levelOf,
  newThresholds,
  percentOf,
  reachedThreshold,
  refusalLevel,
  remainingOf,
  THRESHOLDS,
} from '#src/governance/budget-level'

const amount = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 1_000_000_000_000_000 }))
const amounts = fc.record({ spent: amount, reserved: amount, limit: amount })
const order = ['NORMAL', 'REDUCE', 'QUEUE', 'HARD_STOP']

test('the levels begin exactly at 75, 90 and 100 per cent', () => {
  const at = (spent: number) => levelOf({ spent, reserved: 0, limit: 50_000 })
  expect([0, 37_499, 37_500, 44_999, 45_000, 49_999, 50_000, 60_000].map(at)).toEqual([
    'NORMAL',
    'NORMAL',
    'REDUCE',
    'REDUCE',
    'QUEUE',
    'QUEUE',
    'HARD_STOP',
    'HARD_STOP',
  ])
  expect(levelOf({ spent: 0, reserved: 0, limit: 0 })).toBe('HARD_STOP')
})

test('what is only reserved makes jobs wait, and never ends them', () => {
  expect(levelOf({ spent: 10, reserved: 90, limit: 100 })).toBe('QUEUE')
  expect(levelOf({ spent: 99, reserved: 900, limit: 100 })).toBe('QUEUE')
  expect(levelOf({ spent: 10, reserved: 65, limit: 100 })).toBe('REDUCE')
})

test('the level is what exact fractions say, and never falls while more is used', () => {
  fc.assert(
    fc.property(amounts, amount, ({ spent, reserved, limit }, more) => {
      const level = levelOf({ spent, reserved, limit })
      const percent = (share: bigint) => BigInt(spent + reserved) * 100n >= BigInt(limit) * share
      const expected = spent >= limit ? 'HARD_STOP' : percent(90n) ? 'QUEUE' : percent(75n) ? 'REDUCE' : 'NORMAL'
      expect(level).toBe(expected)
      expect(order.indexOf(levelOf({ spent: spent + more, reserved, limit }))).toBeGreaterThanOrEqual(
        order.indexOf(level),
      )
      expect(order.indexOf(levelOf({ spent, reserved, limit: limit + more }))).toBeLessThanOrEqual(order.indexOf(level))
    }),
  )
})

test('what remains fits, and one more does not', () => {
  fc.assert(
    fc.property(amounts, (each) => {
      const remaining = remainingOf(each)
      const used = each.spent + each.reserved
      expect(remaining).toBeGreaterThanOrEqual(0)
      if (used <= each.limit) expect(used + remaining).toBe(each.limit)
      else expect(remaining).toBe(0)
      expect(percentOf(each) >= 100).toBe(used >= each.limit)
    }),
  )
})

test('thresholds are told once each while the spending rises, and again after a raise', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 30 }), (steps) => {
      let spent = 0
      let notified = 0
      const told: number[] = []
      for (const step of steps) {
        spent += step
        const reached = reachedThreshold({ spent, limit: 100 })
        told.push(...newThresholds(notified, reached))
        notified = reached
      }
      expect(told).toEqual(THRESHOLDS.filter((threshold) => threshold <= spent))
      expect(newThresholds(reachedThreshold({ spent: 90, limit: 200 }), 100)).toEqual([75, 80, 90, 100])
    }),
  )
})

test('a reservation that cannot ever fit ends the job, any other lets it wait', () => {
  expect(refusalLevel({ spent: 50, reserved: 0, limit: 100 }, 60)).toBe('QUEUE')
  expect(refusalLevel({ spent: 50, reserved: 0, limit: 100 }, 101)).toBe('HARD_STOP')
  expect(refusalLevel({ spent: 100, reserved: 0, limit: 100 }, 1)).toBe('HARD_STOP')
})

test.each([
  ['a name', () => defineBudget('no spaces', { limit: 1, per: 'day' }), /Budget name "no spaces"/],
  ['fractions', () => defineBudget('b', { limit: 1.5, per: 'day' }), /limit 1.5.*smaller unit/],
  ['less than nothing', () => defineBudget('b', { limit: -1, per: 'day' }), /limit -1/],
  ['another period', () => defineBudget('b', { limit: 1, per: 'week' as 'day' }), /per "week".*'month' or 'day'/],
  ['an unknown zone', () => defineBudget('b', { limit: 1, per: 'day', timeZone: 'Mars/Base' }), /"Mars\/Base".*IANA/],
  ['an offset', () => defineBudget('b', { limit: 1, per: 'day', timeZone: '+02:00' }), /IANA/],
  [
    'a source that cannot add',
    () => defineBudget('b', { limit: 1, per: 'day', source: {} as never }),
    /`read` and `add`/,
  ],
  ['an amount with a fraction', () => checkAmount(0.1, 'spend(amount)'), /spend\(amount\) is 0.1.*smaller unit/],
  ['an amount below 0', () => checkAmount(-1, 'spend(amount)'), /is -1/],
  ['a month as a day', () => checkPeriod('2026-11', { name: 'b', per: 'day' }), /"2026-11" is none.*2026-11-15/],
  ['a day that is none', () => checkPeriod('2026-02-30', { name: 'b', per: 'day' }), /"2026-02-30"/],
])('a budget is refused with %s', (_, define, message) => {
  expect(define).toThrow(message)
  expect(define).toThrow(InvalidDefinition)
})

test('one name cannot be two budgets', () => {
  const { main } = defineQueues({ main: {} })
  const job = (type: string) =>
    defineJob({ type, queue: main, payload: z.any(), budget: defineBudget('ai', { limit: 1, per: 'day' }) })
  expect(() => new Registry([job('a'), job('b')])).toThrow(/Two budgets have the name "ai"/)
})
