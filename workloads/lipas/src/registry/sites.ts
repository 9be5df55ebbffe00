// Reading places of the register.
import type { Queryable } from 'millrace'
import type { Profile } from '../elevation/profile.ts'
import { type Bounds, boxText } from '../geometry/bounds.ts'
import type { Geometries, Geometry } from '../geometry/feature.ts'

export const STATUSES = [
  'planned',
  'active',
  'out-of-service-temporarily',
  'out-of-service-permanently',
  'incorrect-data',
] as const
export type SiteStatus = (typeof STATUSES)[number]

export interface Site {
  readonly lipasId: number
  /** Raised by saves only: a number, since fewer than 2^53 are ever made. */
  readonly revision: number
  readonly eventDate: Date
  readonly status: SiteStatus
  readonly typeCode: number
  readonly typeName: string
  readonly name: string
  readonly ownerEmail: string | null
  readonly geometries: Geometries
  /** The profile, as the elevation job writes it. */
  readonly elevation: Profile | null
  readonly elevationOf: number | null
}

const SITE = `
select lipas_id as "lipasId", revision::float8 as revision, event_date as "eventDate", status,
  type_code as "typeCode", site_type.name as "typeName", sports_site.name, owner_email as "ownerEmail",
  geometries, elevation, elevation_of::float8 as "elevationOf"
from lipas.sports_site
join lipas.site_type using (type_code)`

export async function siteOf(db: Queryable, lipasId: number): Promise<Site | undefined> {
  const { rows } = await db.query(`${SITE} where lipas_id = $1`, [lipasId])
  return rows[0] as Site | undefined
}

/** A page of all places, by id. */
export async function sitesAfter(db: Queryable, lipasId: number, limit: number): Promise<Site[]> {
  const { rows } = await db.query(`${SITE} where lipas_id > $1 order by lipas_id limit $2`, [lipasId, limit])
  return rows as unknown as Site[]
}

export interface NewHeights {
  readonly lipasId: number
  /** Of the place whose vertices they are. */
  readonly revision: number
  readonly geometries: Geometries
  readonly profile: Profile
}

/** False: the place was saved meanwhile, so the heights belong to an older one and are not written. */
export async function writeHeights(db: Queryable, given: NewHeights): Promise<boolean> {
  const { rows } = await db.query(
    `update lipas.sports_site
     set geometries = $3, elevation = $4, elevation_of = revision
     where lipas_id = $1
       and revision = $2
     returning lipas_id`,
    [given.lipasId, given.revision, JSON.stringify(given.geometries), JSON.stringify(given.profile)],
  )
  return rows.length > 0
}

/**
 * Whether the place was not saved since that revision. Run it in the transaction that completes the job: a save that comes
 * now waits for its end and then enqueues a job of its own, instead of finding this one under way.
 */
export async function isStillAt(tx: Queryable, lipasId: number, revision: number): Promise<boolean> {
  const { rows } = await tx.query(
    `select revision::float8 as revision
     from lipas.sports_site
     where lipas_id = $1
     for share`,
    [lipasId],
  )
  return (rows[0] as { revision: number } | undefined)?.revision === revision
}

export interface OpenPlace {
  readonly lipasId: number
  readonly typeCode: number
  readonly geometries: Geometries
}

export interface OpenPlaces {
  /** The highest revision in the register: read in the same statement, so nothing newer is in the list. */
  readonly seen: number
  readonly places: readonly OpenPlace[]
}

/** Places that can be used, or will be again, and reach into the bounds. */
export async function openPlacesIn(db: Queryable, bounds: Bounds): Promise<OpenPlaces> {
  const { rows } = await db.query(
    `with open as (
       select lipas_id as "lipasId", type_code as "typeCode", geometries
       from lipas.sports_site
       where bounds && $1::box
         and status in ('active', 'out-of-service-temporarily')
       order by lipas_id
     )
     select
       coalesce((select max(revision) from lipas.sports_site), 0)::float8 as seen,
       coalesce((select jsonb_agg(open) from open), '[]') as places`,
    [boxText(bounds)],
  )
  return rows[0] as unknown as OpenPlaces
}

export interface SiteOnMap {
  readonly lipasId: number
  readonly revision: number
  readonly name: string
  readonly typeName: string
  readonly kind: Geometry['type']
  readonly status: SiteStatus
  readonly geometries: Geometries
}

/** Places that were saved after a revision; 0: all. */
export async function sitesOnMap(db: Queryable, since: number): Promise<SiteOnMap[]> {
  const { rows } = await db.query(
    `select lipas_id as "lipasId", revision::float8 as revision, sports_site.name, site_type.name as "typeName",
       geometry_type as kind, status, geometries
     from lipas.sports_site
     join lipas.site_type using (type_code)
     where revision > $1
     order by lipas_id`,
    [since],
  )
  return rows as unknown as SiteOnMap[]
}

/** The places of these ids, in their order. */
export async function sitesOf(db: Queryable, lipasIds: readonly number[]): Promise<SiteName[]> {
  const { rows } = await db.query(
    `select lipas_id as "lipasId", sports_site.name, site_type.name as "typeName", status
     from unnest($1::int[]) with ordinality as wanted (lipas_id, position)
     join lipas.sports_site using (lipas_id)
     join lipas.site_type using (type_code)
     order by position`,
    [[...lipasIds]],
  )
  return rows as unknown as SiteName[]
}

export type SiteName = Pick<SiteOnMap, 'lipasId' | 'name' | 'typeName' | 'status'>
