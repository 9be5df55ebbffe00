// POST /lipas/api/sites/:id saves a place: what is given changes, the rest stays, and the work that follows is enqueued with it.
import { randomUUID } from 'node:crypto'
import { Refusal, type Route, route } from '@millrace/admin'
import { endpoint } from '@millrace/admin/contract'
import type { Millrace } from 'millrace'
import { z } from 'zod'
import { queue } from '../contracts.ts'
import type { Geometries } from '../geometry/feature.ts'
import { geometriesSchema } from '../registry/geometry-schema.ts'
import { type SavedJob, type SiteChange, saveSiteIn } from '../registry/save-site.ts'
import { STATUSES, siteOf } from '../registry/sites.ts'
import type { LipasSystem } from '../system.ts'

/** Further away it is another place. */
const FARTHEST_METRES = 20_000

export const siteId = z.coerce.number('expected the number of a place').int().min(1).max(2_147_483_647)
const metres = z.number().min(-FARTHEST_METRES).max(FARTHEST_METRES)

const save = endpoint({
  method: 'POST',
  path: '/lipas/api/sites/:id',
  permission: 'operator',
  scope: 'all',
  summary: 'Save a place: move, rename or close it, or confirm it as it is',
  description:
    'The place, its reminder and its jobs are written in one transaction. `GET /lipas/api/trace/{correlation-id}` follows the jobs. A job that was `duplicate` waits or runs already under another correlation id, and will see this save.',
  input: z.object({
    id: siteId,
    name: z.string().trim().min(1).max(200).optional(),
    status: z.enum(STATUSES).optional(),
    'owner-email': z.email().nullable().optional(),
    geometries: geometriesSchema.optional(),
    move: z.strictObject({ east: metres, north: metres }).optional().describe('In metres'),
  }),
  output: z.object({
    'lipas-id': z.int(),
    revision: z.int(),
    'correlation-id': z.string(),
    jobs: z.array(z.object({ type: z.string(), id: z.string(), status: z.string() })),
  }),
})

export const saveRoute = (system: LipasSystem): Route =>
  route(save, async ({ id: lipasId, 'owner-email': ownerEmail, ...given }, { millrace, by }) => {
    await demandKind(system, lipasId, given.geometries)
    const change: SiteChange = { ...given, ownerEmail }
    const correlationId = randomUUID()
    const saved = await system.database.transaction(async (tx) => {
      const done = await saveSiteIn(tx, millrace, { lipasId, change, by, correlationId, at: system.clock.now() })
      const entry = { by, action: 'site.save', target: String(lipasId), details: { correlationId } }
      if (done !== undefined) await millrace.audit.write(entry, { tx })
      return done
    })
    if (saved === undefined) throw noSuchPlace(lipasId)
    await hurry(millrace, saved.jobs, by)
    return {
      ...{ 'lipas-id': lipasId, revision: saved.revision, 'correlation-id': correlationId },
      jobs: saved.jobs.map(({ type, id, status }) => ({ type, id, status })),
    }
  })

const noSuchPlace = (lipasId: number): Refusal =>
  new Refusal(404, 'not_found', `The register has no place ${lipasId}. GET /lipas/api/sites?q= finds places by name.`)

/** A hall stays a point, and a trail a line: what counts and measures them relies on it. */
async function demandKind({ database }: LipasSystem, lipasId: number, given: Geometries | undefined): Promise<void> {
  if (given === undefined) return
  const site = await siteOf(database, lipasId)
  if (site === undefined) throw noSuchPlace(lipasId)
  const kind = site.geometries.features[0]?.geometry.type
  const other = given.features.find(({ geometry }) => geometry.type !== kind)?.geometry.type
  if (other === undefined) return
  const detail = `geometries: ${site.name} is a ${kind}, and a ${other} was sent. Send features of type ${kind} only.`
  throw new Refusal(400, 'invalid_request', detail)
}

/** What waits already may have been put behind the work of users, as the first analyses are. This user waits for it now. */
async function hurry(millrace: Millrace, jobs: readonly SavedJob[], by: string): Promise<void> {
  for (const { id, status } of jobs) {
    if (status !== 'duplicate') continue
    const job = await millrace.job(id)
    if (job !== undefined && job.priority > queue.priority) await millrace.prioritise(id, queue.priority, { by })
  }
}
