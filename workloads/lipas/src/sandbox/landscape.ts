// The invented municipality's land: 12 by 12 km of the national grid, a river with three bridges, and a lake.
import type { Bounds } from '../geometry/bounds.ts'
import type { Point } from '../geometry/projection.ts'

export const ORIGIN: Point = [384_000, 6_672_000]
export const SIDE = 12_000

export const LAND: Bounds = {
  minEast: ORIGIN[0],
  minNorth: ORIGIN[1],
  maxEast: ORIGIN[0] + SIDE,
  maxNorth: ORIGIN[1] + SIDE,
}

export const RIVER_WIDTH = 60
/** Metres north of the origin. */
export const BRIDGES = [2_100, 6_000, 9_900] as const

/** Where the river is, at a height of the map: its middle. */
export function riverAt(north: number): number {
  const along = north - ORIGIN[1]
  return ORIGIN[0] + 6_200 + 450 * Math.sin(along / 1_500) + 120 * Math.sin(along / 430)
}

export const isWestOfRiver = ([east, north]: Point): boolean => east < riverAt(north)
export const isInRiver = ([east, north]: Point): boolean => Math.abs(east - riverAt(north)) < RIVER_WIDTH / 2

interface Ellipse {
  readonly centre: Point
  readonly east: number
  readonly north: number
}

export const LAKE: Ellipse = { centre: [ORIGIN[0] + 9_000, ORIGIN[1] + 9_000], east: 1_100, north: 800 }
/** The surveyors have no heights here. */
const DEEP_END: Ellipse = { centre: [ORIGIN[0] + 9_300, ORIGIN[1] + 9_100], east: 350, north: 250 }

/** 0 in the middle, 1 at the shore. */
export const lakeward = (point: Point): number => ratio(LAKE, point)
export const isInLake = (point: Point): boolean => lakeward(point) <= 1
export const isInDeepEnd = (point: Point): boolean => ratio(DEEP_END, point) <= 1

const ratio = ({ centre, east, north }: Ellipse, point: Point): number =>
  Math.hypot((point[0] - centre[0]) / east, (point[1] - centre[1]) / north)

/** Whether a place may be here: on land that is surveyed, and at least `margin` metres inside. */
export const isGround = (point: Point, margin = 0): boolean =>
  point[0] >= LAND.minEast + margin &&
  point[0] <= LAND.maxEast - margin &&
  point[1] >= LAND.minNorth + margin &&
  point[1] <= LAND.maxNorth - margin &&
  lakeward(point) > 1.05
