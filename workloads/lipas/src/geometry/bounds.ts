// Boxes in metres, with sides along the axes.
import type { Point } from './projection.ts'

export interface Bounds {
  readonly minEast: number
  readonly minNorth: number
  readonly maxEast: number
  readonly maxNorth: number
}

/** The smallest box that holds all points. Without a point it is empty: its sides are the wrong way round. */
export function boundsOf(points: Iterable<Point>): Bounds {
  let [minEast, minNorth, maxEast, maxNorth] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [east, north] of points) {
    minEast = Math.min(minEast, east)
    minNorth = Math.min(minNorth, north)
    maxEast = Math.max(maxEast, east)
    maxNorth = Math.max(maxNorth, north)
  }
  return { minEast, minNorth, maxEast, maxNorth }
}

export const widened = ({ minEast, minNorth, maxEast, maxNorth }: Bounds, by: number): Bounds => ({
  minEast: minEast - by,
  minNorth: minNorth - by,
  maxEast: maxEast + by,
  maxNorth: maxNorth + by,
})

export const widthOf = ({ minEast, maxEast }: Bounds): number => maxEast - minEast
export const heightOf = ({ minNorth, maxNorth }: Bounds): number => maxNorth - minNorth

/** As PostgreSQL reads a value of type box. */
export const boxText = ({ minEast, minNorth, maxEast, maxNorth }: Bounds): string =>
  `((${minEast},${minNorth}),(${maxEast},${maxNorth}))`
