// The routes of the invented municipality: walks that wind, between 1 and 20 km, and one straight over the ridge.
import type { Point } from '../geometry/projection.ts'
import { isGround, ORIGIN, SIDE } from './landscape.ts'
import { between, normal, type Random } from './random.ts'
import { RIDGE } from './terrain.ts'

export const ROUTES = 50
const SHORTEST = { metres: 1_000, vertices: 40 }
const LONGEST = { metres: 20_000, vertices: 2_000 }
const CENTRE: Point = [ORIGIN[0] + SIDE / 2, ORIGIN[1] + SIDE / 2]

/** From west to east over the ridge, with a vertex every 10 m. */
export function ridgeRoute(): Point[] {
  return Array.from({ length: 251 }, (_, i): Point => [RIDGE.east - 1_250 + i * 10, ORIGIN[1] + 7_000 + i * 2])
}

/** The last one is the longest. */
export function route(random: Random, index: number, start: Point): Point[] {
  const share = index / (ROUTES - 1)
  const metres = SHORTEST.metres * (LONGEST.metres / SHORTEST.metres) ** share
  const vertices = Math.round(SHORTEST.vertices * (LONGEST.vertices / SHORTEST.vertices) ** share)
  const stride = metres / (vertices - 1)
  const line: Point[] = [start]
  let heading = between(random, 0, 2 * Math.PI)
  while (line.length < vertices) {
    const from = line[line.length - 1] as Point
    heading += normal(random) * 0.02 * Math.sqrt(stride)
    const [next, taken] = stepFrom(from, heading, stride)
    heading = taken
    line.push(next)
  }
  return line
}

/** Straight on, or turned as little as keeps it on the ground; from a dead end towards the centre. */
function stepFrom(from: Point, heading: number, stride: number): [Point, number] {
  for (let turn = 0; turn <= Math.PI; turn += 0.3) {
    for (const taken of [heading + turn, heading - turn]) {
      const next: Point = [from[0] + stride * Math.cos(taken), from[1] + stride * Math.sin(taken)]
      if (isGround(next, 150)) return [next, taken]
    }
  }
  const home = Math.atan2(CENTRE[1] - from[1], CENTRE[0] - from[0])
  return [[from[0] + stride * Math.cos(home), from[1] + stride * Math.sin(home)], home]
}
