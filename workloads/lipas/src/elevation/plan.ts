// Which boxes of the elevation model a place needs: few requests, and little ground that nobody asked about.
import { type Bounds, boundsOf, heightOf, widened, widthOf } from '../geometry/bounds.ts'
import type { Point } from '../geometry/projection.ts'

export interface Request {
  /** Corners on even metres: the edges of the model's cells. */
  readonly bounds: Bounds
  /** Which points lie in it, by their place in the list. */
  readonly points: readonly number[]
}

/** The model's cells are squares of so many metres. */
export const CELL = 2
const MARGIN = 8
const CHUNK = 250
const TILE = 1_000
/** So many chunks of a tile are asked for at once. */
const MERGED = 3

export function planRequests(points: readonly Point[]): Request[] {
  if (points.length === 0) return []
  const whole = boundsOf(points)
  if (widthOf(whole) <= CHUNK && heightOf(whole) <= CHUNK)
    return [{ bounds: even(widened(whole, MARGIN)), points: points.map((_, at) => at) }]
  return tilesOf(points).flatMap((chunks) => (chunks.length < MERGED ? chunks : [merged(chunks)]))
}

/** The chunks that hold a point, by tile. */
function tilesOf(points: readonly Point[]): Request[][] {
  const tiles = new Map<string, Map<string, { bounds: Bounds; points: number[] }>>()
  for (const [at, point] of points.entries()) {
    const chunks = getOrMake(tiles, keyOf(point, TILE), () => new Map())
    // One cell wider: the height at the border is between the centres of cells on both sides.
    const chunk = getOrMake(chunks, keyOf(point, CHUNK), () => ({
      bounds: widened(squareOf(point, CHUNK), CELL),
      points: [],
    }))
    chunk.points.push(at)
  }
  return [...tiles.values()].map((chunks) => [...chunks.values()])
}

/** The box around chunks of one tile: never larger than the tile and a cell on each side. */
function merged(chunks: readonly Request[]): Request {
  const corners = chunks.flatMap(({ bounds: { minEast, minNorth, maxEast, maxNorth } }): Point[] => [
    [minEast, minNorth],
    [maxEast, maxNorth],
  ])
  return { bounds: boundsOf(corners), points: chunks.flatMap(({ points }) => points) }
}

const even = ({ minEast, minNorth, maxEast, maxNorth }: Bounds): Bounds => ({
  minEast: down(minEast, CELL),
  minNorth: down(minNorth, CELL),
  maxEast: -down(-maxEast, CELL),
  maxNorth: -down(-maxNorth, CELL),
})

function squareOf([east, north]: Point, side: number): Bounds {
  const [minEast, minNorth] = [down(east, side), down(north, side)]
  return { minEast, minNorth, maxEast: minEast + side, maxNorth: minNorth + side }
}

const keyOf = ([east, north]: Point, side: number): string => `${down(east, side)} ${down(north, side)}`
const down = (metres: number, step: number): number => Math.floor(metres / step) * step

function getOrMake<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
