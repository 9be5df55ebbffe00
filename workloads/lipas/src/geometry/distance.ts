// Distances in the plane, in metres.
import type { Point } from './projection.ts'

export const distanceBetween = ([e1, n1]: Point, [e2, n2]: Point): number => Math.hypot(e2 - e1, n2 - n1)

/** To the nearest point of the straight line between two points. */
export function distanceToSegment(point: Point, from: Point, to: Point): number {
  const [east, north] = [to[0] - from[0], to[1] - from[1]]
  const squared = east * east + north * north
  if (squared === 0) return distanceBetween(point, from)
  const along = ((point[0] - from[0]) * east + (point[1] - from[1]) * north) / squared
  const share = Math.min(1, Math.max(0, along))
  return distanceBetween(point, [from[0] + share * east, from[1] + share * north])
}

/** To the nearest point of a line of many vertices. Infinity without a vertex. */
export function distanceToLine(point: Point, line: readonly Point[]): number {
  const [first] = line
  if (first === undefined) return Number.POSITIVE_INFINITY
  let nearest = distanceBetween(point, first)
  for (let i = 1; i < line.length; i += 1) {
    nearest = Math.min(nearest, distanceToSegment(point, line[i - 1] as Point, line[i] as Point))
  }
  return nearest
}

export function lengthOf(line: readonly Point[]): number {
  let length = 0
  for (let i = 1; i < line.length; i += 1) length += distanceBetween(line[i - 1] as Point, line[i] as Point)
  return length
}
