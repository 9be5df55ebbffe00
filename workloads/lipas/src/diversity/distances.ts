// How far it is on foot from squares to the places in their reach: along streets, or as the crow flies.
import { distanceBetween } from '../geometry/distance.ts'
import type { Point } from '../geometry/projection.ts'
import type { Access, Offer, Place } from './offer.ts'
import type { Router } from './routing.ts'

export interface Reached {
  readonly place: Place
  readonly metres: number
}

/** By square, in the order given: each place once. A place that cannot be reached on foot is left out. */
export type Distances = (centres: readonly Point[], offer: Offer, signal: AbortSignal) => Promise<Reached[][]>

export const euclid: Distances = async (centres, offer) =>
  centres.map((centre) => {
    const metres = (access: Access): number => distanceBetween(centre, access.point)
    return nearestOf(offer.near(centre), metres)
  })

export const alongStreets =
  (router: Router): Distances =>
  async (centres, offer, signal) => {
    const near = centres.map((centre) => offer.near(centre))
    const destinations = [...new Set(near.flat())]
    const columns = new Map(destinations.map((access, at) => [access, at]))
    const table = await router.table(
      centres,
      destinations.map(({ point }) => point),
      signal,
    )
    return near.map((accesses, row) =>
      nearestOf(accesses, (access) => table[row]?.[columns.get(access) as number] ?? Number.POSITIVE_INFINITY),
    )
  }

function nearestOf(accesses: readonly Access[], metresTo: (access: Access) => number): Reached[] {
  const nearest = new Map<Place, number>()
  for (const access of accesses) {
    const metres = metresTo(access)
    if (metres < (nearest.get(access.place) ?? Number.POSITIVE_INFINITY)) nearest.set(access.place, metres)
  }
  return [...nearest].map(([place, metres]) => ({ place, metres }))
}
