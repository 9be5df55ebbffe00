// What stands in the panel of a place or of a square.
import type { Queryable } from 'millrace'
import { z } from 'zod'
import { boundsOfPlace } from '../geometry/shape.ts'
import type { Site } from '../registry/sites.ts'
import { sitesOf } from '../registry/sites.ts'
import { type SquareDetails, squareNear } from './map-store.ts'
import type { SiteDetails } from './page/panel.ts'
import type { Offer } from './page/square.ts'

const counted = z.record(z.string(), z.number()).catch({})
const nearestPlaces = z.record(z.string(), z.object({ 'lipas-id': z.int(), metres: z.number() }).nullable()).catch({})

export async function siteDetails(db: Queryable, site: Site): Promise<SiteDetails> {
  const { minEast, maxEast, minNorth, maxNorth } = boundsOfPlace(site.geometries)
  const square = await squareNear(db, [(minEast + maxEast) / 2, (minNorth + maxNorth) / 2])
  return { site, square, offers: square === undefined ? [] : await offersOf(db, square) }
}

/** By category, the nearest first; those without a place in reach last. */
export async function offersOf(db: Queryable, { categories, nearest }: SquareDetails): Promise<Offer[]> {
  const [counts, places] = [counted.parse(categories ?? {}), nearestPlaces.parse(nearest ?? {})]
  const ids = Object.values(places).flatMap((place) => (place === null ? [] : [place['lipas-id']]))
  const names = new Map((await sitesOf(db, ids)).map(({ lipasId, name }) => [lipasId, name]))
  const all = [...new Set([...Object.keys(counts), ...Object.keys(places)])].sort()
  const offers = all.map((category) => {
    const place = places[category] ?? null
    const id = place?.['lipas-id'] ?? 0
    const shown = place === null ? null : { lipasId: id, name: names.get(id) ?? `place ${id}`, metres: place.metres }
    return { category, counts: counts[category] ?? 0, nearest: shown }
  })
  return offers.sort((one, other) => metresOf(one) - metresOf(other))
}

const metresOf = ({ nearest }: Offer): number => nearest?.metres ?? Number.MAX_SAFE_INTEGER
