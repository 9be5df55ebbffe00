// The street graph of the sandbox: a bent grid of about 10,000 crossings, cut by the river but for its bridges.
import Flatbush from 'flatbush'
import { distanceBetween } from '../geometry/distance.ts'
import type { Point } from '../geometry/projection.ts'
import { BRIDGES, isInLake, isWestOfRiver, ORIGIN, SIDE } from './landscape.ts'
import { between, seeded } from './random.ts'

const SPACING = 120
const PER_SIDE = SIDE / SPACING
const SEED = 20_240_117

export interface Street {
  readonly to: number
  readonly metres: number
}

export class Streets {
  readonly crossings: readonly Point[]
  /** By crossing, where one can walk from it. */
  readonly from: readonly (readonly Street[])[]
  readonly #index: Flatbush

  constructor(crossings: readonly Point[], streets: ReadonlyArray<readonly [number, number]>) {
    const from: Street[][] = crossings.map(() => [])
    for (const [one, other] of streets) {
      const metres = distanceBetween(crossings[one] as Point, crossings[other] as Point)
      from[one]?.push({ to: other, metres })
      from[other]?.push({ to: one, metres })
    }
    this.crossings = crossings
    this.from = from
    this.#index = new Flatbush(crossings.length)
    for (const [east, north] of crossings) this.#index.add(east, north)
    this.#index.finish()
  }

  /** The crossing that is nearest as the crow flies. */
  nearest([east, north]: Point): number {
    return this.#index.neighbors(east, north, 1)[0] as number
  }
}

/** The same graph every time. */
export function streets(): Streets {
  const random = seeded(SEED)
  const cells = Array.from({ length: PER_SIDE * PER_SIDE }, (_, at): Point => {
    const [column, row] = [at % PER_SIDE, Math.floor(at / PER_SIDE)]
    const place = (index: number): number => (index + 0.5) * SPACING + between(random, -30, 30)
    return [ORIGIN[0] + place(column), ORIGIN[1] + place(row)]
  })
  const numbers = new Map<number, number>()
  const crossings = cells.filter((point, at) => {
    if (isInLake(point)) return false
    numbers.set(at, numbers.size)
    return true
  })
  const found: Array<readonly [number, number]> = []
  for (const [at, next] of neighbours()) {
    const isKept = random() < 0.92
    const [one, other] = [numbers.get(at), numbers.get(next)]
    if (one === undefined || other === undefined) continue
    const crossesRiver = isWestOfRiver(cells[at] as Point) !== isWestOfRiver(cells[next] as Point)
    if (crossesRiver ? isBridge(at, next) : isKept) found.push([one, other])
  }
  return new Streets(crossings, found)
}

/** Each pair once: to the east, and to the north. */
function* neighbours(): Generator<readonly [number, number]> {
  for (let at = 0; at < PER_SIDE * PER_SIDE; at += 1) {
    if ((at + 1) % PER_SIDE !== 0) yield [at, at + 1]
    if (at + PER_SIDE < PER_SIDE * PER_SIDE) yield [at, at + PER_SIDE]
  }
}

const isBridge = (at: number, next: number): boolean =>
  next === at + 1 && BRIDGES.some((north) => Math.floor(north / SPACING) === Math.floor(at / PER_SIDE))
