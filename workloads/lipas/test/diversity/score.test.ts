// Where one comes to a place, and what a square counts.
import { expect, test } from 'vitest'
import { accessPointsOf } from '#src/diversity/access-points'
import { scoreOf } from '#src/diversity/score'
import { distanceBetween } from '#src/geometry/distance'
import type { Point } from '#src/geometry/projection'

const line = (count: number, stride: number): Point[] => Array.from({ length: count }, (_, i) => [i * stride, 0])

test('one comes to a point itself, and to a line or a border every 250 m', () => {
  expect(accessPointsOf({ points: [[3, 4]], lines: [line(9, 100)], areas: [] })).toEqual([[3, 4]])
  expect(accessPointsOf({ points: [], lines: [line(9, 100)], areas: [] })).toEqual([
    [0, 0],
    [300, 0],
    [600, 0],
  ])
  const ring: Point[] = [
    [0, 0],
    [400, 0],
    [400, 100],
    [0, 100],
    [0, 0],
  ]
  expect(accessPointsOf({ points: [], lines: [], areas: [[ring]] })).toEqual([
    [0, 0],
    [400, 0],
    [0, 100],
  ])
})

test('a long line has at most 100 such points, spread over all of it', () => {
  const points = accessPointsOf({ points: [], lines: [line(400, 260)], areas: [] })
  expect(points).toHaveLength(100)
  expect(distanceBetween(points[0] as Point, points[99] as Point)).toBeGreaterThan(390 * 260)
})

const categories = [
  { name: 'ice', typeCodes: [1, 2], factor: 1 },
  { name: 'water', typeCodes: [3], factor: 0.5 },
]
const reached = (lipasId: number, typeCode: number, metres: number) => ({ place: { lipasId, typeCode }, metres })

test('a category counts its factor if a place of it is nearer than 800 m, however many there are', () => {
  const score = scoreOf(categories, [reached(1, 1, 799.96), reached(2, 2, 100), reached(3, 3, 800), reached(4, 9, 1)])
  expect(score).toEqual({
    index: 1,
    categories: { ice: 1, water: 0 },
    nearest: { ice: { 'lipas-id': 2, metres: 100 }, water: { 'lipas-id': 3, metres: 800 } },
  })
})

test('without a place in reach nothing counts, and of two that are as near the lower id is told', () => {
  expect(scoreOf(categories, [])).toEqual({ index: 0, categories: { ice: 0, water: 0 }, nearest: {} })
  const twins = [reached(8, 3, 50), reached(7, 3, 50)]
  expect(scoreOf(categories, twins).nearest.water).toEqual({ 'lipas-id': 7, metres: 50 })
})
