// Geometry in the plane: projection, distances, boxes and shapes.
import { expect, test } from 'vitest'
import { boundsOf, boxText, heightOf, widened, widthOf } from '#src/geometry/bounds'
import { distanceBetween, distanceToLine, distanceToSegment, lengthOf } from '#src/geometry/distance'
import { type Geometries, verticesOf, withVertices } from '#src/geometry/feature'
import { type Point, toPlane, toWorld } from '#src/geometry/projection'
import { boundsOfPlace, distanceToShape, pointsOf, shapeOf, simplified } from '#src/geometry/shape'

const collection = (...geometries: Geometries['features'][number]['geometry'][]): Geometries => ({
  type: 'FeatureCollection',
  features: geometries.map((geometry) => ({ type: 'Feature', geometry })),
})
const world = (points: readonly Point[]) => points.map(toWorld)
const square = (east: number, north: number, side: number): Point[] => [
  [east, north],
  [east + side, north],
  [east + side, north + side],
  [east, north + side],
  [east, north],
]

test('the projection agrees with the national grid at the middle meridian and at the equator', () => {
  // By definition: 27° E is 500 km east, and the equator is north 0.
  expect(toPlane([27, 0])).toEqual([expect.closeTo(500_000, 3), expect.closeTo(0, 3)])
  // The scale on the middle meridian is 0.9996: one degree of latitude at 60° N is 111,412 m on the ellipsoid.
  const [[, south], [, north]] = [toPlane([27, 59.5]), toPlane([27, 60.5])]
  expect(north - south).toBeCloseTo(111_412.24 * 0.9996, -1)
})

test('there and back again is the same spot, to a centimetre or two', () => {
  for (const point of [
    [384_000, 6_672_000],
    [396_000, 6_684_000],
    [500_000, 7_000_000],
  ] as const)
    expect(distanceBetween(toPlane(toWorld(point)), point)).toBeLessThan(0.02)
})

test('the distance to a segment is to its nearest point, also beyond its ends', () => {
  expect(distanceToSegment([5, 3], [0, 0], [10, 0])).toBe(3)
  expect(distanceToSegment([13, 4], [0, 0], [10, 0])).toBe(5)
  expect(distanceToSegment([-3, -4], [0, 0], [10, 0])).toBe(5)
  expect(distanceToSegment([3, 4], [0, 0], [0, 0])).toBe(5)
})

test('the distance to a line is that to its nearest segment; a line without a vertex is nowhere', () => {
  const line: Point[] = [
    [0, 0],
    [10, 0],
    [10, 10],
  ]
  expect(distanceToLine([12, 5], line)).toBe(2)
  expect(distanceToLine([0, 0], [])).toBe(Number.POSITIVE_INFINITY)
  expect(lengthOf(line)).toBe(20)
})

test('a box holds its points; of no point it is empty', () => {
  const box = boundsOf([
    [3, 9],
    [1, 4],
  ])
  expect(box).toEqual({ minEast: 1, minNorth: 4, maxEast: 3, maxNorth: 9 })
  expect([widthOf(widened(box, 2)), heightOf(widened(box, 2))]).toEqual([6, 9])
  expect(boxText(box)).toBe('((1,4),(3,9))')
  expect(widthOf(boundsOf([]))).toBe(Number.NEGATIVE_INFINITY)
})

test('vertices are given back to every feature in order', () => {
  const geometries = collection(
    { type: 'Point', coordinates: [25, 60] },
    {
      type: 'LineString',
      coordinates: [
        [25, 60],
        [25.1, 60],
      ],
    },
    { type: 'Polygon', coordinates: [world(square(384_000, 6_672_000, 10)), world(square(384_004, 6_672_004, 2))] },
  )
  const vertices = verticesOf(geometries)
  expect(vertices).toHaveLength(13)
  expect(withVertices(geometries, vertices)).toEqual(geometries)
  const numbered = withVertices(
    geometries,
    vertices.map((_, at) => [at, 0]),
  )
  expect(verticesOf(numbered).map(([at]) => at)).toEqual([...vertices.keys()])
  expect(() => withVertices(geometries, vertices.slice(1))).toThrow(RangeError)
})

test('inside of an area the distance is 0, in its hole it is that to the ring', () => {
  const shape = shapeOf(
    collection({
      type: 'Polygon',
      coordinates: [world(square(384_000, 6_672_000, 100)), world(square(384_040, 6_672_040, 20))],
    }),
  )
  expect(distanceToShape([384_010, 6_672_010], shape)).toBe(0)
  expect(distanceToShape([384_050, 6_672_050], shape)).toBeCloseTo(10, 1)
  expect(distanceToShape([384_130, 6_672_050], shape)).toBeCloseTo(30, 1)
})

test('a shape of several kinds is as near as the nearest of them', () => {
  const points: Point[] = [
    [384_000, 6_672_000],
    [384_500, 6_672_000],
    [384_500, 6_672_300],
  ]
  const [point = [], ...line]: number[][] = world(points)
  const geometries = collection({ type: 'Point', coordinates: point }, { type: 'LineString', coordinates: line })
  const shape = shapeOf(geometries)
  expect(pointsOf(shape)).toHaveLength(3)
  expect(distanceToShape([384_003, 6_672_004], shape)).toBeCloseTo(5, 1)
  expect(distanceToShape([384_480, 6_672_150], shape)).toBeCloseTo(20, 1)
  expect(boundsOfPlace(geometries).maxNorth).toBeCloseTo(6_672_300, 1)
})

test('what simplifying leaves is never farther away than its tolerance', () => {
  const line = Array.from({ length: 400 }, (_, i): Point => [384_000 + i * 5, 6_672_000 + 40 * Math.sin(i / 9)])
  const shape = { points: [], lines: [line], areas: [] }
  const fewer = simplified(shape, 10)
  expect(fewer.lines[0]?.length).toBeLessThan(line.length / 3)
  for (const point of line) expect(distanceToShape(point, fewer)).toBeLessThanOrEqual(10)
  expect(simplified({ points: [[1, 2]], lines: [line.slice(0, 2)], areas: [] }, 10).lines[0]).toHaveLength(2)
})
