import fc from 'fast-check'
import { defineQueues, InvalidDefinition } from 'millrace'
import { expect, test } from 'vitest'

test('by default a job comes up by one every ten minutes, five times', () => {
  const { mail } = defineQueues({ mail: {} })
  expect(mail.boost).toEqual([4, 3, 2, 1, 0].map((priority, i) => ({ afterMs: (i + 1) * 600_000, priority })))
})

test('boosting can be switched off, and bounded', () => {
  const { off, bounded } = defineQueues({
    off: { boost: false },
    bounded: { priority: 20, boost: { after: '1m', by: 3, most: 2 } },
  })
  expect(off.boost).toEqual([])
  expect(bounded.boost).toEqual([
    { afterMs: 60_000, priority: 17 },
    { afterMs: 120_000, priority: 14 },
  ])
})

test('whoever waits longer stands no worse, and nobody better than 0', () => {
  const option = fc.record({ after: fc.integer({ min: 1_000, max: 10 ** 9 }), by: steps(), most: steps() })
  fc.assert(
    fc.property(fc.nat(1_000), option, (priority, boost) => {
      const { queue } = defineQueues({ queue: { priority, boost } })
      expect(queue.boost.length).toBeGreaterThan(0)
      expect(queue.boost.length).toBeLessThanOrEqual(boost.most)
      queue.boost.forEach((step, i) => {
        expect(step).toEqual({ afterMs: boost.after * (i + 1), priority: Math.max(0, priority - boost.by * (i + 1)) })
        if (i > 0) expect(step.priority).toBeLessThan(queue.boost[i - 1]?.priority ?? Number.POSITIVE_INFINITY)
      })
    }),
  )
})

const steps = () => fc.integer({ min: 1, max: 100 })

test.each([
  [{ after: '10ms' }, /1 s is the least/],
  [{ by: 0 }, /boost\.by 0: expected an integer from 1 to 100, or boost: false/],
  [{ most: 1.5 }, /boost\.most 1\.5/],
] as const)('boost %j is refused', (boost, message) => {
  const define = () => defineQueues({ mail: { boost } })
  expect(define).toThrow(InvalidDefinition)
  expect(define).toThrow(message)
})
