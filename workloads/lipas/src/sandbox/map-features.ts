// Water and bridges of the invented municipality, for the map.
import type { Geometries, Geometry } from '../geometry/feature.ts'
import { type Point, toWorld } from '../geometry/projection.ts'
import { BRIDGES, LAKE, ORIGIN, RIVER_WIDTH, riverAt, SIDE } from './landscape.ts'

export interface SampleFeature {
  readonly id: number
  readonly kind: 'lake' | 'river' | 'bridge'
  readonly name: string
  readonly geometries: Geometries
}

const CORNERS = 48
/** Metres along the river between two corners of its banks. */
const STRIDE = 150
const BRIDGE_REACH = 90

export function mapFeatures(): SampleFeature[] {
  const bridges = BRIDGES.map((along, i) => ({
    ...{ id: 3 + i, kind: 'bridge' as const, name: `Bridge ${i + 1}` },
    geometries: only({ type: 'LineString', coordinates: bridgeAt(ORIGIN[1] + along).map(toWorld) }),
  }))
  return [
    { id: 1, kind: 'river', name: 'Kaislajoki', geometries: only({ type: 'Polygon', coordinates: [closed(banks())] }) },
    { id: 2, kind: 'lake', name: 'Kaislajärvi', geometries: only({ type: 'Polygon', coordinates: [closed(shore())] }) },
    ...bridges,
  ]
}

const only = (geometry: Geometry): Geometries => ({
  type: 'FeatureCollection',
  features: [{ type: 'Feature', geometry }],
})

const closed = (points: readonly Point[]): number[][] => [...points, points[0] as Point].map(toWorld)

/** Up along one bank, and down along the other. */
function banks(): Point[] {
  const norths = Array.from({ length: SIDE / STRIDE + 1 }, (_, i) => ORIGIN[1] + i * STRIDE)
  const bank = (aside: number) => norths.map((north): Point => [riverAt(north) + aside, north])
  return [...bank(-RIVER_WIDTH / 2), ...bank(RIVER_WIDTH / 2).reverse()]
}

function shore(): Point[] {
  return Array.from({ length: CORNERS }, (_, i): Point => {
    const angle = (2 * Math.PI * i) / CORNERS
    return [LAKE.centre[0] + LAKE.east * Math.cos(angle), LAKE.centre[1] + LAKE.north * Math.sin(angle)]
  })
}

const bridgeAt = (north: number): Point[] => [
  [riverAt(north) - BRIDGE_REACH, north],
  [riverAt(north) + BRIDGE_REACH, north],
]
