// Who lives where: squares of 250 m with their people, of three age groups.
import { distanceBetween } from '../geometry/distance.ts'
import type { Point } from '../geometry/projection.ts'
import { isGround, isInRiver, ORIGIN, SIDE } from './landscape.ts'
import { between, normal, type Random } from './random.ts'

export const SQUARE = 250
const INHABITED = 1_100
const PEOPLE = 38_000

export interface SampleCell {
  readonly cellId: string
  readonly centre: Point
  readonly population: number
  readonly age0to14: number
  readonly age15to64: number
  readonly age65: number
}

interface Town {
  readonly centre: Point
  readonly weight: number
  /** How far it reaches, in metres. */
  readonly radius: number
}

const town = (east: number, north: number, [weight, radius]: [number, number]): Town => ({
  centre: [ORIGIN[0] + east, ORIGIN[1] + north],
  weight,
  radius,
})

const TOWNS: readonly Town[] = [
  town(4_800, 5_600, [1, 1_300]),
  town(8_300, 4_200, [0.55, 1_000]),
  town(2_000, 9_800, [0.25, 700]),
  town(7_300, 10_600, [0.2, 600]),
  town(10_200, 1_600, [0.2, 700]),
  town(1_600, 1_800, [0.15, 800]),
]

/** The squares in which anybody lives. */
export function population(random: Random): SampleCell[] {
  const weighed = squares()
    .filter((centre) => isGround(centre) && !isInRiver(centre))
    .map((centre) => ({ centre, weight: density(centre) * Math.exp(0.8 * normal(random)) }))
    .sort((one, other) => other.weight - one.weight)
    .slice(0, INHABITED)
  const total = weighed.reduce((sum, { weight }) => sum + weight, 0)
  const people = weighed.map(({ weight }) => Math.max(1, Math.round((PEOPLE * weight) / total)))
  const rest = PEOPLE - people.reduce((sum, each) => sum + each, 0)
  people[0] = (people[0] ?? 0) + rest
  return weighed.map(({ centre }, at) => cell(centre, people[at] as number, random))
}

/** The id of a square as the national grid names it: the kilometres and metres of its lower left corner. */
export const cellIdOf = ([east, north]: Point): string =>
  `250mN${Math.floor(north / SQUARE) * SQUARE}E${Math.floor(east / SQUARE) * SQUARE}`

function squares(): Point[] {
  const perSide = SIDE / SQUARE
  return Array.from(
    { length: perSide * perSide },
    (_, at): Point => [
      ORIGIN[0] + ((at % perSide) + 0.5) * SQUARE,
      ORIGIN[1] + (Math.floor(at / perSide) + 0.5) * SQUARE,
    ],
  )
}

function density(point: Point): number {
  const near = ({ centre, weight, radius }: Town): number =>
    weight * Math.exp(-0.5 * (distanceBetween(point, centre) / radius) ** 2)
  return TOWNS.reduce((sum, each) => sum + near(each), 0.004)
}

function cell(centre: Point, people: number, random: Random): SampleCell {
  const age0to14 = Math.round(people * between(random, 0.1, 0.24))
  const age65 = Math.round((people - age0to14) * between(random, 0.12, 0.38))
  const age15to64 = people - age0to14 - age65
  return { cellId: cellIdOf(centre), centre, population: people, age0to14, age15to64, age65 }
}
