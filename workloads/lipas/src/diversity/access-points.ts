// Where one comes to a place on foot: its point, else vertices of its lines and borders.
import { distanceBetween } from '../geometry/distance.ts'
import type { Point } from '../geometry/projection.ts'
import type { Shape } from '../geometry/shape.ts'

const EVERY_METRES = 250
const MOST = 100

export function accessPointsOf({ points, lines, areas }: Shape): Point[] {
  if (points.length > 0) return thinned(points)
  return thinned([...lines, ...areas.flat()].flatMap(spaced))
}

/** The first vertex, and each that is far enough along the line from the one before. */
function spaced(line: readonly Point[]): Point[] {
  let since = EVERY_METRES
  return line.filter((vertex, at) => {
    since += at === 0 ? 0 : distanceBetween(line[at - 1] as Point, vertex)
    if (since < EVERY_METRES) return false
    since = 0
    return true
  })
}

/** Evenly spread over the list, if it is too long. */
function thinned(points: readonly Point[]): Point[] {
  if (points.length <= MOST) return [...points]
  return Array.from({ length: MOST }, (_, i) => points[Math.floor((i * points.length) / MOST)] as Point)
}
