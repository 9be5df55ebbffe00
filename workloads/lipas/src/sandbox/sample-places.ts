// The sports places of the invented municipality: 170 points, 50 routes, 40 areas. Four of them have the ids of the guides.
import type { Geometries, Geometry } from '../geometry/feature.ts'
import { type Point, toWorld } from '../geometry/projection.ts'
import { type GeometryKind, SITE_TYPES } from './classification.ts'
import { isGround, ORIGIN } from './landscape.ts'
import type { SampleCell } from './population.ts'
import { between, normal, oneOf, type Random } from './random.ts'
import { ROUTES, ridgeRoute, route } from './sample-routes.ts'

export interface SamplePlace {
  readonly lipasId: number
  readonly name: string
  readonly typeCode: number
  readonly status: 'active' | 'out-of-service-temporarily' | 'out-of-service-permanently' | 'planned'
  readonly ownerEmail: string
  /** When the owner last confirmed the entry. */
  readonly eventDate: string
  readonly geometries: Geometries
}

const POINTS = 170
const AREAS = 40
const FIRST_ID = 500_001
const TODAY = Date.UTC(2026, 0, 15)
const DAY_MS = 86_400_000

const VILLAGES = [
  'Harju',
  'Niemi',
  'Lehto',
  'Koivikko',
  'Kivikko',
  'Ranta',
  'Mylly',
  'Pelto',
  'Haapa',
  'Kallio',
  'Suvi',
  'Notko',
]

/** Their ids are in examples of the documentation, so they are always there. */
const KNOWN: Readonly<Record<string, number>> = {
  'Point 0': 123,
  'Point 1': 1_234,
  'Polygon 0': 5_678,
  'LineString 0': 12_345,
}

export function samplePlaces(random: Random, cells: readonly SampleCell[]): SamplePlace[] {
  let nextId = FIRST_ID
  const place = (kind: GeometryKind, index: number, geometry: Geometry): SamplePlace => {
    const known = KNOWN[`${kind} ${index}`]
    const type = oneOf(
      random,
      SITE_TYPES.filter(({ geometryType }) => geometryType === kind),
    )
    const lipasId = known ?? nextId++
    return {
      lipasId,
      name: lipasId === 12_345 ? 'Ridge trail' : `${oneOf(random, VILLAGES)} ${type.name.toLowerCase()} ${index + 1}`,
      typeCode: lipasId === 12_345 ? 4_405 : type.typeCode,
      status: known === undefined ? statusOf(random()) : 'active',
      ownerEmail: `owner-${1 + Math.floor(random() * 40)}@example.org`,
      eventDate: new Date(TODAY - Math.floor(random() * 700) * DAY_MS).toISOString(),
      geometries: { type: 'FeatureCollection', features: [{ type: 'Feature', geometry }] },
    }
  }
  const points = Array.from({ length: POINTS }, (_, i) =>
    place('Point', i, { type: 'Point', coordinates: toWorld(somewhere(random, cells)) }),
  )
  const routes = Array.from({ length: ROUTES }, (_, i) => {
    const line = i === 0 ? ridgeRoute() : route(random, i, somewhere(random, cells))
    return place('LineString', i, { type: 'LineString', coordinates: line.map(toWorld) })
  })
  const areas = Array.from({ length: AREAS }, (_, i) => place('Polygon', i, area(random, i, somewhere(random, cells))))
  return [...points, ...routes, ...areas]
}

function statusOf(chance: number): SamplePlace['status'] {
  if (chance < 0.9) return 'active'
  if (chance < 0.94) return 'out-of-service-temporarily'
  return chance < 0.98 ? 'out-of-service-permanently' : 'planned'
}

/** Near people, more often where there are many. */
function somewhere(random: Random, cells: readonly SampleCell[]): Point {
  for (;;) {
    const { centre, population } = oneOf(random, cells)
    if (population < random() * 60) continue
    const point: Point = [centre[0] + 150 * normal(random), centre[1] + 150 * normal(random)]
    if (isGround(point, 600)) return point
  }
}

/** A star of 8 to 16 corners; every fifth has a hole. */
function area(random: Random, index: number, centre: Point): Geometry {
  const corners = 8 + Math.floor(random() * 9)
  const radius = between(random, 60, 400)
  const ring = (reach: () => number): number[][] => {
    const points = Array.from({ length: corners }, (_, i): Point => {
      const [angle, far] = [(2 * Math.PI * i) / corners, reach()]
      return [centre[0] + far * Math.cos(angle), centre[1] + far * Math.sin(angle)]
    })
    return [...points, points[0] as Point].map(toWorld)
  }
  const outer = ring(() => radius * between(random, 0.7, 1.2))
  const coordinates = index % 5 === 0 ? [outer, ring(() => radius * 0.3).reverse()] : [outer]
  return { type: 'Polygon', coordinates }
}

/** For whatever else is placed at a fixed spot: metres from the lower left corner of the map. */
export const spot = (east: number, north: number): Point => [ORIGIN[0] + east, ORIGIN[1] + north]
