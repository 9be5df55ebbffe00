import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addTo, bucketOf, countIn, percentileMs } from '#src/histogram'

test('a percentile lies within half a doubling of the value that it stands for', () => {
  const values = fc.array(fc.double({ min: 1, minExcluded: true, max: 30_000_000, noNaN: true }), {
    minLength: 1,
    maxLength: 300,
  })
  fc.assert(
    fc.property(values, fc.constantFrom(0.5, 0.95, 0.99), (all, share) => {
      const histogram: number[] = []
      for (const ms of all) countIn(histogram, ms)
      const exact = [...all].sort((a, b) => a - b)[Math.ceil(share * all.length) - 1] as number
      const found = percentileMs(histogram, share) as number
      expect(found / exact).toBeGreaterThan(0.7)
      expect(found / exact).toBeLessThan(1.42)
    }),
  )
})

test('counts of two processes add up to those of one', () => {
  const [one, other, all]: number[][] = [[], [], []]
  for (const ms of [1, 20, 3_000]) countIn(one as number[], ms)
  for (const ms of [5, 900_000]) countIn(other as number[], ms)
  for (const ms of [1, 5, 20, 3_000, 900_000]) countIn(all as number[], ms)
  addTo(one as number[], other as number[])
  expect(one).toEqual(all)
})

test('nothing counted has no percentile, and what takes days is in the last bucket', () => {
  expect(percentileMs([], 0.95)).toBeNull()
  expect([0, 1, 1.2, 2, 1e12].map(bucketOf)).toEqual([0, 0, 1, 2, 51])
  const days: number[] = []
  countIn(days, 1e12)
  expect(percentileMs(days, 0.95)).toBe(2 ** 25)
})
