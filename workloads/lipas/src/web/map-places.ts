// Places as pieces of the map, drawn once for each revision: a route of 2,000 vertices takes a while.
import type { Queryable } from 'millrace'
import type { Bounds } from '../geometry/bounds.ts'
import { type SiteOnMap, sitesOnMap } from '../registry/sites.ts'
import { placeSvg } from './page/places.ts'

export interface DrawnPlace {
  readonly lipasId: number
  readonly revision: number
  readonly kind: SiteOnMap['kind']
  readonly svg: string
}

/** Two saves may commit in another order than their revisions: look at so many again. */
const LOOK_BACK = 10
/** Areas below, points above all. */
const RANK: Readonly<Record<SiteOnMap['kind'], number>> = { Polygon: 0, LineString: 1, Point: 2 }

export class MapPlaces {
  readonly #kept = new Map<number, DrawnPlace>()
  #newest = 0

  /** Of all places that the register has now. */
  get newest(): number {
    return this.#newest
  }

  get all(): DrawnPlace[] {
    return [...this.#kept.values()].sort((a, b) => RANK[a.kind] - RANK[b.kind] || a.lipasId - b.lipasId)
  }

  /** Those that were saved after the revision that a page has. */
  since(revision: number): DrawnPlace[] {
    return this.all.filter((place) => place.revision > revision - LOOK_BACK)
  }

  async refresh(db: Queryable, frame: Bounds): Promise<void> {
    for (const site of await sitesOnMap(db, Math.max(0, this.#newest - LOOK_BACK))) {
      if (this.#kept.get(site.lipasId)?.revision === site.revision) continue
      this.#kept.set(site.lipasId, await drawn(site, frame))
      this.#newest = Math.max(this.#newest, site.revision)
    }
  }
}

async function drawn(site: SiteOnMap, frame: Bounds): Promise<DrawnPlace> {
  const { lipasId, revision, kind } = site
  return { lipasId, revision, kind, svg: String(await placeSvg(site, frame)) }
}
