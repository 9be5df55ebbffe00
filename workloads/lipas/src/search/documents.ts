// Places and squares as documents of the search index, and the query of the search box.
import type { ComputedCell } from '../diversity/cells.ts'
import { toWorld } from '../geometry/projection.ts'
import { boundsOfPlace } from '../geometry/shape.ts'
import type { Site, SiteStatus } from '../registry/sites.ts'
import type { Document, Query } from './client.ts'

export interface SiteSource {
  readonly 'lipas-id': number
  readonly name: string
  readonly 'type-code': number
  readonly 'type-name': string
  readonly status: SiteStatus
  readonly 'event-date': string
  readonly centre: { readonly lon: number; readonly lat: number }
  /** The profile; null: its heights are not known yet. */
  readonly elevation: unknown
}

/** Saves raise the revision; heights come later than the save and belong to the same one. */
export const versionOf = ({ revision, elevationOf }: Pick<Site, 'revision' | 'elevationOf'>): number =>
  2 * revision + (elevationOf === revision ? 1 : 0)

export function siteDocument(site: Site): Document & { readonly source: SiteSource & Record<string, unknown> } {
  const { minEast, minNorth, maxEast, maxNorth } = boundsOfPlace(site.geometries)
  const [lon, lat] = toWorld([(minEast + maxEast) / 2, (minNorth + maxNorth) / 2])
  const source = {
    'lipas-id': site.lipasId,
    name: site.name,
    'type-code': site.typeCode,
    'type-name': site.typeName,
    status: site.status,
    'event-date': site.eventDate.toISOString(),
    centre: { lon, lat },
    elevation: site.elevationOf === site.revision ? site.elevation : null,
  }
  return { id: String(site.lipasId), version: versionOf(site), source }
}

/** A square that was computed from an older register does not replace a newer one. */
export function cellDocument(
  { cellId, centre, population, score }: ComputedCell,
  { computedFrom, at }: { readonly computedFrom: number; readonly at: Date },
): Document {
  const [lon, lat] = toWorld(centre)
  const source = { 'cell-id': cellId, centre: { lon, lat }, population, ...score, 'computed-at': at.toISOString() }
  return { id: cellId, version: computedFrom, source }
}

/** What a person types: words of the name or of the type, the last one perhaps unfinished, or an id. */
export function siteQuery(typed: string): Query {
  const text = typed.trim()
  const should: Query[] = [
    { match_bool_prefix: { name: { query: text, operator: 'and', boost: 2 } } },
    { match_bool_prefix: { 'type-name': { query: text, operator: 'and' } } },
  ]
  if (/^\d{1,9}$/.test(text)) should.push({ term: { 'lipas-id': { value: Number(text), boost: 10 } } })
  return { bool: { should, minimum_should_match: 1 } }
}
