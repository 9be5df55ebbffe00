// The sports offer of an area: the places that are open there, found by where one comes to them on foot.
import { setImmediate } from 'node:timers/promises'
import Flatbush from 'flatbush'
import type { Queryable } from 'millrace'
import { type Bounds, widened } from '../geometry/bounds.ts'
import type { Point } from '../geometry/projection.ts'
import { shapeOf } from '../geometry/shape.ts'
import { openPlacesIn } from '../registry/sites.ts'
import { accessPointsOf } from './access-points.ts'

/** Farther places do not count for a square, as the crow flies. */
export const REACH = 2_000
const PLACES_BETWEEN_YIELDS = 20

export interface Place {
  readonly lipasId: number
  readonly typeCode: number
}

export interface Access {
  readonly place: Place
  readonly point: Point
}

export class Offer {
  /** The highest revision of all places when this was read: the later of two offers has the higher one. */
  readonly seen: number
  readonly #accesses: readonly Access[]
  readonly #index: Flatbush | undefined

  constructor(seen: number, accesses: readonly Access[]) {
    this.seen = seen
    this.#accesses = accesses
    if (accesses.length === 0) return
    this.#index = new Flatbush(accesses.length)
    for (const { point } of accesses) this.#index.add(point[0], point[1])
    this.#index.finish()
  }

  /** Around squares within these bounds. */
  static async read(db: Queryable, bounds: Bounds): Promise<Offer> {
    const { seen, places } = await openPlacesIn(db, widened(bounds, REACH))
    const accesses: Access[] = []
    for (const [at, { lipasId, typeCode, geometries }] of places.entries()) {
      const place = { lipasId, typeCode }
      for (const point of accessPointsOf(shapeOf(geometries))) accesses.push({ place, point })
      if (at % PLACES_BETWEEN_YIELDS === 0) await setImmediate()
    }
    return new Offer(seen, accesses)
  }

  /** Within reach, the nearest first. */
  near([east, north]: Point): Access[] {
    const found = this.#index?.neighbors(east, north, Number.POSITIVE_INFINITY, REACH) ?? []
    return found.map((at) => this.#accesses[at] as Access)
  }
}
