// The invented municipality, the same every time: people, sports places and places of interest. Nothing of it is stored in files.
import type { Geometries } from '../geometry/feature.ts'
import { toWorld } from '../geometry/projection.ts'
import { CATEGORIES, type Category, SITE_TYPES, type SiteType } from './classification.ts'
import { isGround } from './landscape.ts'
import { population, type SampleCell } from './population.ts'
import { between, oneOf, seeded } from './random.ts'
import { type SamplePlace, samplePlaces, spot } from './sample-places.ts'

export interface SampleLoi {
  readonly id: number
  readonly loiType: string
  readonly eventDate: string
  readonly geometries: Geometries
}

export interface Municipality {
  readonly name: string
  readonly cells: readonly SampleCell[]
  readonly places: readonly SamplePlace[]
  readonly lois: readonly SampleLoi[]
  readonly siteTypes: readonly SiteType[]
  readonly categories: readonly Category[]
}

export const MUNICIPALITY = 'Kaislajoki'
const SEED = 3_067
/** The first two are in examples of the documentation. */
const LOI_IDS = [
  91_011, 121_314, 700_001, 700_002, 700_003, 700_004, 700_005, 700_006, 700_007, 700_008, 700_009, 700_010,
]
const LOI_TYPES = ['rest-area', 'information-board', 'toilet', 'canopy', 'cooking-facility', 'parking-spot']

export function municipality(): Municipality {
  const random = seeded(SEED)
  const cells = population(random)
  const places = samplePlaces(random, cells)
  const lois = LOI_IDS.map((id): SampleLoi => {
    let point = spot(between(random, 500, 11_500), between(random, 500, 11_500))
    while (!isGround(point)) point = spot(between(random, 500, 11_500), between(random, 500, 11_500))
    return {
      id,
      loiType: oneOf(random, LOI_TYPES),
      eventDate: '2026-01-10T09:00:00.000Z',
      geometries: {
        type: 'FeatureCollection',
        features: [{ type: 'Feature', geometry: { type: 'Point', coordinates: toWorld(point) } }],
      },
    }
  })
  return { name: MUNICIPALITY, cells, places, lois, siteTypes: SITE_TYPES, categories: CATEGORIES }
}
