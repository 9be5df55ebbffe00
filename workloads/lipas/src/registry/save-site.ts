// Saving a place: the place, its reminder and the work that follows from it, in one transaction.
import type { EnqueueResult, Millrace, Queryable } from 'millrace'
import { analysis, elevation, email, webhook } from '../contracts.ts'
import type { LipasDatabase } from '../database/pool.ts'
import { boxText } from '../geometry/bounds.ts'
import { type Geometries, verticesOf, withVertices } from '../geometry/feature.ts'
import { toPlane, toWorld } from '../geometry/projection.ts'
import { boundsOfPlace } from '../geometry/shape.ts'
import { moveReminder } from './reminders.ts'
import type { SiteStatus } from './sites.ts'

export interface SiteChange {
  readonly name?: string | undefined
  readonly status?: SiteStatus | undefined
  readonly ownerEmail?: string | null | undefined
  readonly geometries?: Geometries | undefined
  /** Metres. */
  readonly move?: { readonly east: number; readonly north: number } | undefined
}

export interface Save {
  readonly lipasId: number
  readonly change: SiteChange
  readonly by: string
  /** Ties the jobs of this save together. */
  readonly correlationId: string
  readonly at: Date
}

export interface SavedJob {
  readonly type: string
  readonly id: string
  readonly status: EnqueueResult['status']
}

export interface Saved {
  readonly revision: number
  readonly jobs: readonly SavedJob[]
}

const REVISION_LOCK = 'lipas revision'

interface Stored {
  readonly name: string
  readonly status: SiteStatus
  readonly ownerEmail: string | null
  readonly geometries: Geometries
}

/** Undefined: the register has no such place. */
export const saveSite = (
  { database, millrace }: { readonly database: LipasDatabase; readonly millrace: Millrace },
  save: Save,
): Promise<Saved | undefined> => database.transaction((tx) => saveSiteIn(tx, millrace, save))

/** In a transaction of the caller's. */
export async function saveSiteIn(tx: Queryable, millrace: Millrace, save: Save): Promise<Saved | undefined> {
  const stored = await lockSite(tx, save.lipasId)
  if (stored === undefined) return undefined
  const next = changed(stored, save.change)
  const isMoved = next.geometries !== stored.geometries
  const revision = await writeSite(tx, { save, next, isMoved })
  const isOpen = next.status !== 'out-of-service-permanently'
  const reminded = { lipasId: save.lipasId, email: isOpen ? next.ownerEmail : null, at: save.at }
  await moveReminder(tx, reminded)
  return { revision, jobs: await enqueueWork(millrace, tx, { save, next, isMoved }) }
}

async function lockSite(tx: Queryable, lipasId: number): Promise<Stored | undefined> {
  const { rows } = await tx.query(
    `select name, status, owner_email as "ownerEmail", geometries
     from lipas.sports_site
     where lipas_id = $1
     for update`,
    [lipasId],
  )
  return rows[0] as Stored | undefined
}

function changed(stored: Stored, { name, status, ownerEmail, geometries, move }: SiteChange): Stored {
  const drawn = geometries ?? stored.geometries
  const isMoved = move !== undefined && (move.east !== 0 || move.north !== 0)
  return {
    name: name ?? stored.name,
    status: status ?? stored.status,
    ownerEmail: ownerEmail === undefined ? stored.ownerEmail : ownerEmail,
    geometries: isMoved ? moved(drawn, move) : drawn,
  }
}

/** Heights are left behind: they belong to where the place was. */
function moved(geometries: Geometries, { east, north }: { east: number; north: number }): Geometries {
  const vertices = verticesOf(geometries).map((vertex) => {
    const [x, y] = toPlane(vertex)
    return toWorld([x + east, y + north])
  })
  return withVertices(geometries, vertices)
}

interface Write {
  readonly save: Save
  readonly next: Stored
  readonly isMoved: boolean
}

/**
 * A place that has not moved keeps its heights. The profile of an older geometry stays until the new one is computed:
 * `elevation_of` tells that it is older.
 */
async function writeSite(tx: Queryable, { save: { lipasId, at }, next, isMoved }: Write): Promise<number> {
  // Until the commit, so that a higher revision is always the later one to be seen.
  await tx.query('select pg_advisory_xact_lock(hashtext($1))', [REVISION_LOCK])
  const { rows } = await tx.query(
    `update lipas.sports_site
     set revision = raised.revision, event_date = $2, name = $3, status = $4, owner_email = $5,
       geometries = $6, bounds = $7,
       elevation_of = case when elevation_of = sports_site.revision and not $8 then raised.revision else elevation_of end
     from (select nextval('lipas.revision') as revision) as raised
     where lipas_id = $1
     returning sports_site.revision::float8 as revision`,
    [
      ...[lipasId, at, next.name, next.status, next.ownerEmail],
      ...[JSON.stringify(next.geometries), boxText(boundsOfPlace(next.geometries)), isMoved],
    ],
  )
  return (rows[0] as { revision: number }).revision
}

async function enqueueWork(
  millrace: Millrace,
  tx: Queryable,
  { save: { lipasId, by, correlationId }, next, isMoved }: Write,
): Promise<SavedJob[]> {
  const options = { correlationId, createdBy: by }
  const place = { 'lipas-id': lipasId }
  const items = [
    ...(isMoved ? [{ job: elevation, payload: place, options }] : []),
    { job: analysis, payload: place, options },
    { job: webhook, payload: { 'lipas-ids': [lipasId], 'operation-type': 'update', 'initiated-by': by }, options },
    ...(next.ownerEmail === null ? [] : [{ job: email, payload: noticeOf(next, next.ownerEmail), options }]),
  ]
  const results = await millrace.enqueueMany(items, { tx })
  return results.map(({ id, status }, i) => ({ type: (items[i] as (typeof items)[number]).job.type, id, status }))
}

const noticeOf = ({ name, status }: Stored, to: string) => ({
  to,
  subject: `Saved: ${name.replaceAll(/\s+/g, ' ')}`.slice(0, 200),
  body: `The entry of ${name} was saved. Its status is ${status}.\n\nLIPAS, the register of sports places`,
})
