// Profiles: ranges, lengths, and how much a line climbs.
import { expect, test } from 'vitest'
import { climbOf, profileOf, withHeights } from '#src/elevation/profile'
import type { Geometries } from '#src/geometry/feature'
import type { Point } from '#src/geometry/projection'

test('what climbs and falls counts from turn to turn', () => {
  expect(climbOf([10, 20, 5, 8])).toEqual({ ascent: 13, descent: 15 })
  expect(climbOf([5, 5, 5])).toEqual({ ascent: 0, descent: 0 })
  expect(climbOf([])).toEqual({ ascent: 0, descent: 0 })
})

test('ups and downs below a metre are noise, and a slow climb is none', () => {
  expect(climbOf([10, 10.9, 10, 10.9, 10])).toEqual({ ascent: 0, descent: 0 })
  const slow = Array.from({ length: 101 }, (_, i) => 10 + i / 10)
  expect(climbOf(slow)).toEqual({ ascent: 10, descent: 0 })
  const rough = slow.map((height, i) => height + (i % 2) * 0.4)
  expect(climbOf(rough).ascent).toBeCloseTo(10.3, 5)
  expect(climbOf(rough).descent).toBe(0)
  expect(climbOf([...slow].reverse())).toEqual({ ascent: 0, descent: 10 })
})

const features: Geometries = {
  type: 'FeatureCollection',
  features: [
    { type: 'Feature', geometry: { type: 'Point', coordinates: [25, 60] } },
    {
      type: 'Feature',
      geometry: {
        type: 'LineString',
        coordinates: [
          [25, 60],
          [25, 61],
          [25, 62],
        ],
      },
    },
    {
      type: 'Feature',
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [25, 60],
            [26, 60],
            [26, 61],
            [25, 60],
          ],
        ],
      },
    },
  ],
}
const points: Point[] = [
  [0, 0],
  [0, 0],
  [30, 40],
  [60, 80],
  [0, 0],
  [9, 0],
  [9, 9],
  [0, 0],
]

test('every feature has its own profile, and the place one of all', () => {
  const profile = profileOf(features, points, [7, 10, 130, 10, 3, 6, 9, 3])
  expect(profile).toEqual({
    ...{ 'min-m': 3, 'max-m': 130, 'ascent-m': 120, 'descent-m': 120, points: [7] },
    lines: [{ 'min-m': 10, 'max-m': 130, 'ascent-m': 120, 'descent-m': 120, 'length-2d-m': 100, 'length-3d-m': 260 }],
    areas: [{ 'min-m': 3, 'max-m': 9, 'mean-m': 6 }],
  })
})

test('the height is the third coordinate, and replaces an older one', () => {
  const once = withHeights(features, [7, 10, 130, 10, 3, 6, 9, 3])
  expect(once.features[0]?.geometry.coordinates).toEqual([25, 60, 7])
  const twice = withHeights(once, [8.128, 10, 130, 10, 3, 6, 9, 3])
  expect(twice.features[0]?.geometry.coordinates).toEqual([25, 60, 8.13])
})
