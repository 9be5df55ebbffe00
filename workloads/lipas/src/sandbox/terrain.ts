// The height of the ground, as a function: tests know it anywhere. Four waves, a ridge, and the level of the lake.
import type { Point } from '../geometry/projection.ts'
import { lakeward, ORIGIN } from './landscape.ts'

const LAKE_LEVEL = 31.5
/** Around the lake the ground comes down to its level within this many radii. */
const SHORE = 1.4

interface Wave {
  readonly height: number
  /** Metres from crest to crest. */
  readonly length: number
  /** The direction in which it travels, in radians from east. */
  readonly heading: number
}

const WAVES: readonly Wave[] = [
  { height: 9, length: 4_300, heading: 0.4 },
  { height: 6, length: 2_700, heading: 1.9 },
  { height: 3, length: 1_250, heading: 2.7 },
  { height: 1.2, length: 610, heading: 5.1 },
]

/** A line of hills from north to south, 3.2 km east of the western border. */
export const RIDGE = { east: ORIGIN[0] + 3_200, height: 62, width: 260 }

/** In metres above the sea. */
export function heightAt(point: Point): number {
  const dry = dryHeight(point)
  const radii = lakeward(point)
  if (radii >= SHORE) return dry
  if (radii <= 1) return LAKE_LEVEL
  const share = (radii - 1) / (SHORE - 1)
  return LAKE_LEVEL + (dry - LAKE_LEVEL) * share * share * (3 - 2 * share)
}

function dryHeight([east, north]: Point): number {
  const [x, y] = [east - ORIGIN[0], north - ORIGIN[1]]
  let height = 48
  for (const wave of WAVES) {
    const along = x * Math.cos(wave.heading) + y * Math.sin(wave.heading)
    height += wave.height * Math.sin((2 * Math.PI * along) / wave.length)
  }
  const aside = (east - RIDGE.east) / RIDGE.width
  return height + RIDGE.height * Math.exp(-0.5 * aside * aside)
}
