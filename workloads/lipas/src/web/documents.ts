// What programs read of places, squares and searches, as JSON.
import { Refusal } from '@millrace/admin'
import type { Found } from './find.ts'
import type { SquareDetails } from './map-store.ts'
import type { SiteDetails } from './page/panel.ts'
import { FEWEST_PEOPLE, type Offer } from './page/square.ts'

/** Owners' addresses are nobody's business here. */
export function siteDocument({ site, square, offers }: SiteDetails) {
  const { lipasId, revision, eventDate, status, typeCode, typeName, name, geometries, elevation, elevationOf } = site
  return {
    ...{ 'lipas-id': lipasId, revision, 'event-date': eventDate, status, name },
    type: { code: typeCode, name: typeName },
    ...{ geometries, elevation, 'elevation-is-current': elevationOf === revision },
    square: square === undefined ? null : squareDocument(square, offers),
  }
}

export function squareDocument({ cellId, population, index, computedAt }: SquareDetails, offers: readonly Offer[]) {
  return {
    'cell-id': cellId,
    population: population < FEWEST_PEOPLE ? null : population,
    ...{ index, 'computed-at': computedAt },
    offers: offers.map(({ category, counts, nearest }) => ({
      ...{ category, counts },
      nearest: nearest && { 'lipas-id': nearest.lipasId, name: nearest.name, metres: nearest.metres },
    })),
  }
}

export function foundDocument(found: Found) {
  if (found.state === 'found')
    return {
      total: found.total,
      sites: found.sites.map(({ lipasId, name, typeName, status }) => ({
        ...{ 'lipas-id': lipasId, name, 'type-name': typeName, status },
      })),
    }
  const why = found.state === 'open' ? 'Its breaker is open, so it was not asked.' : 'It did not answer.'
  throw new Refusal(503, 'search_unavailable', `The search service cannot be used now. ${why} Try again later.`)
}
