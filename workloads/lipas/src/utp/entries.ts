// The objects of the register as the partner for outdoor data takes them.
import type { Queryable } from 'millrace'

export interface Entry {
  readonly objectType: 'point' | 'line' | 'polygon'
  readonly sourceTypeSpec: string
  readonly sourceId: string
  readonly sourceTypeId: 'sports-site' | 'loi'
  readonly updatedAt: string
}

export interface Found {
  readonly entries: readonly Entry[]
  /** Ids that the register does not have. */
  readonly unknown: readonly number[]
}

interface Row {
  readonly id: number
  readonly kind: string
  readonly geometry: string | null
  readonly eventDate: Date
}

const OBJECT_TYPES: Readonly<Record<string, Entry['objectType']>> = {
  Point: 'point',
  LineString: 'line',
  Polygon: 'polygon',
}

export async function entriesOf(
  db: Queryable,
  { lipasIds, loiIds }: { readonly lipasIds: readonly number[]; readonly loiIds: readonly number[] },
): Promise<Found> {
  const [sites, lois] = [await siteRows(db, lipasIds), await loiRows(db, loiIds)]
  const has = (rows: readonly Row[]) => new Set(rows.map(({ id }) => id))
  const [knownSites, knownLois] = [has(sites), has(lois)]
  return {
    entries: [...sites.map((row) => entryOf(row, 'sports-site')), ...lois.map((row) => entryOf(row, 'loi'))],
    unknown: [...lipasIds.filter((id) => !knownSites.has(id)), ...loiIds.filter((id) => !knownLois.has(id))],
  }
}

const entryOf = ({ id, kind, geometry, eventDate }: Row, sourceTypeId: Entry['sourceTypeId']): Entry => ({
  objectType: OBJECT_TYPES[geometry ?? ''] ?? 'point',
  sourceTypeSpec: kind,
  sourceId: String(id),
  sourceTypeId,
  updatedAt: eventDate.toISOString(),
})

async function siteRows(db: Queryable, ids: readonly number[]): Promise<Row[]> {
  const { rows } = await db.query(
    `select lipas_id as id, type_code::text as kind, geometries #>> '{features,0,geometry,type}' as geometry,
       event_date as "eventDate"
     from lipas.sports_site
     where lipas_id = any($1)
     order by lipas_id`,
    [[...ids]],
  )
  return rows as unknown as Row[]
}

async function loiRows(db: Queryable, ids: readonly number[]): Promise<Row[]> {
  const { rows } = await db.query(
    `select id, loi_type as kind, geometries #>> '{features,0,geometry,type}' as geometry, event_date as "eventDate"
     from lipas.loi
     where id = any($1)
     order by id`,
    [[...ids]],
  )
  return rows as unknown as Row[]
}
