// What the heights of a place say: how high it lies, how long its lines are, and how much they climb.
import { distanceBetween, lengthOf } from '../geometry/distance.ts'
import { type Geometries, verticesOf, withVertices } from '../geometry/feature.ts'
import type { Point } from '../geometry/projection.ts'

export interface Range {
  readonly 'min-m': number
  readonly 'max-m': number
}

export interface LineProfile extends Range {
  readonly 'ascent-m': number
  readonly 'descent-m': number
  readonly 'length-2d-m': number
  readonly 'length-3d-m': number
}

export interface AreaProfile extends Range {
  readonly 'mean-m': number
}

/** Of a whole place; lines, areas and points in the order of its features. */
export interface Profile extends Range {
  readonly 'ascent-m': number
  readonly 'descent-m': number
  readonly points: readonly number[]
  readonly lines: readonly LineProfile[]
  readonly areas: readonly AreaProfile[]
}

/** Smaller ups and downs are taken for noise of the model. */
const HYSTERESIS = 1

/** The same geometries with the height as third coordinate, in centimetres of precision. */
export const withHeights = (geometries: Geometries, heights: readonly number[]): Geometries =>
  withVertices(
    geometries,
    verticesOf(geometries).map(([longitude = 0, latitude = 0], at) => [longitude, latitude, rounded(heights[at] ?? 0)]),
  )

/** `points` and `heights` by vertex, in the order of verticesOf. */
export function profileOf(geometries: Geometries, points: readonly Point[], heights: readonly number[]): Profile {
  let next = 0
  const take = (count: number) => {
    const [from, to] = [next, next + count]
    next = to
    return { line: points.slice(from, to), up: heights.slice(from, to) }
  }
  const [high, lines, areas]: [number[], LineProfile[], AreaProfile[]] = [[], [], []]
  for (const { geometry } of geometries.features) {
    if (geometry.type === 'Point') high.push(rounded(take(1).up[0] ?? 0))
    else if (geometry.type === 'LineString') lines.push(ofLine(take(geometry.coordinates.length)))
    else areas.push(ofArea(geometry.coordinates.map(({ length }) => take(length).up)))
  }
  const sum = (key: 'ascent-m' | 'descent-m') => rounded(lines.reduce((all, line) => all + line[key], 0))
  const climb = { 'ascent-m': sum('ascent-m'), 'descent-m': sum('descent-m') }
  return { ...rangeOf(heights), ...climb, points: high, lines, areas }
}

function ofLine({ line, up }: { line: readonly Point[]; up: readonly number[] }): LineProfile {
  const { ascent, descent } = climbOf(up)
  let length = 0
  for (let i = 1; i < line.length; i += 1) {
    const flat = distanceBetween(line[i - 1] as Point, line[i] as Point)
    length += Math.hypot(flat, (up[i] as number) - (up[i - 1] as number))
  }
  return {
    ...rangeOf(up),
    'ascent-m': rounded(ascent),
    'descent-m': rounded(descent),
    'length-2d-m': rounded(lengthOf(line)),
    'length-3d-m': rounded(length),
  }
}

/** Every ring ends with the vertex that it began with, which counts once. */
function ofArea(rings: readonly (readonly number[])[]): AreaProfile {
  const up = rings.flatMap((ring) => ring.slice(0, -1))
  return { ...rangeOf(up), 'mean-m': rounded(up.reduce((sum, each) => sum + each, 0) / up.length) }
}

/** From one turning point to the next; a turn is one from which the line goes back by more than the hysteresis. */
export function climbOf(heights: readonly number[]): { ascent: number; descent: number } {
  let [ascent, descent, way] = [0, 0, 0]
  let low = heights[0] ?? 0
  let high = low
  for (const height of heights) {
    if (way >= 0 && height > high) high = height
    if (way <= 0 && height < low) low = height
    if (way <= 0 && height - low >= HYSTERESIS) {
      if (way < 0) descent += high - low
      ;[way, high] = [1, height]
    } else if (way >= 0 && high - height >= HYSTERESIS) {
      if (way > 0) ascent += high - low
      ;[way, low] = [-1, height]
    }
  }
  if (way > 0) ascent += high - low
  if (way < 0) descent += high - low
  return { ascent, descent }
}

function rangeOf(heights: readonly number[]): Range {
  let [min, max] = [Infinity, -Infinity]
  for (const each of heights) {
    min = Math.min(min, each)
    max = Math.max(max, each)
  }
  return { 'min-m': rounded(min), 'max-m': rounded(max) }
}

const rounded = (metres: number): number => Math.round(metres * 100) / 100
