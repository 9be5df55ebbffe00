// Planning the requests for heights.
import { expect, test } from 'vitest'
import { CELL, planRequests } from '#src/elevation/plan'
import { heightOf, widened, widthOf } from '#src/geometry/bounds'
import { verticesOf } from '#src/geometry/feature'
import type { Point } from '#src/geometry/projection'
import { toPlane } from '#src/geometry/projection'
import { municipality } from '#src/sandbox/municipality'

const routes = municipality().places.map(({ geometries }) => verticesOf(geometries).map(toPlane))
const MOST_METRES = 1_100

test('every vertex lies in one request, at least a cell away from its border, and every corner is even', () => {
  for (const points of routes) {
    const requests = planRequests(points)
    expect(requests.flatMap((request) => request.points).sort((a, b) => a - b)).toEqual([...points.keys()])
    for (const { bounds, points: inside } of requests) {
      expect(Object.values(bounds).map((corner) => corner % CELL)).toEqual([0, 0, 0, 0])
      expect(Math.max(widthOf(bounds), heightOf(bounds))).toBeLessThanOrEqual(MOST_METRES)
      const { minEast, minNorth, maxEast, maxNorth } = widened(bounds, -CELL)
      const outside = inside.filter((at) => {
        const [east, north] = points[at] as Point
        return east < minEast || east > maxEast || north < minNorth || north > maxNorth
      })
      expect(outside).toEqual([])
    }
  }
})

test('a place that fits into 250 m is one small request', () => {
  const [request, ...others] = planRequests([
    [384_101, 6_672_201.5],
    [384_151.3, 6_672_150],
  ])
  expect(others).toEqual([])
  expect(request?.bounds).toEqual({ minEast: 384_092, minNorth: 6_672_142, maxEast: 384_160, maxNorth: 6_672_210 })
  expect(planRequests([])).toEqual([])
})

test('two chunks of a tile stay apart, three are one request', () => {
  const at = (...easts: number[]): Point[] => easts.map((east) => [384_000 + east, 6_672_100])
  expect(planRequests(at(10, 900))).toHaveLength(2)
  expect(planRequests(at(10, 300, 900))).toHaveLength(1)
  expect(planRequests(at(10, 300, 900, 1_200))).toHaveLength(2)
})

test('the 20 km route needs at most half of the requests of one per chunk', () => {
  const longest = routes.reduce((one, other) => (other.length > one.length ? other : one))
  const chunks = new Set(longest.map(([east, north]) => `${Math.floor(east / 250)} ${Math.floor(north / 250)}`))
  const { length } = planRequests(longest)
  expect(chunks.size).toBeGreaterThan(30)
  expect(length).toBeLessThanOrEqual(chunks.size / 2)
})
